// Damaged payloads: whatever opens must run within its buffers. Built with sanitizers, which end the
// test at the first violation, for the portable kernels and, in tests/conformance, for CMSIS-NN's.
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#ifdef WITH_CMSIS_NN
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#else
#include "runtime/kernels/portable/portable.h"
#endif
#include "runtime/payload/payload_builder.h"
#include "runtime/payload/view.h"

namespace cmsis_nn_delegate {
namespace {

using testing::AlignedBytes;

#ifdef WITH_CMSIS_NN
const KernelTable& kKernels = kCmsisNnKernels;
#else
const KernelTable& kKernels = kPortableKernels;
#endif

/// Runs the calls of `payload`, if it opens, with buffers of exactly the stated sizes.
/// Returns whether it opened.
bool run(AlignedBytes& payload) {
  const auto view = PayloadView::open(payload.data(), payload.size(), kKernels);
  if (!view.ok()) {
    return false;
  }
  if (view->header().arena_bytes > (1u << 20)) {
    return true;  // valid, but not worth the memory
  }
  std::vector<AlignedBytes> buffers;
  buffers.emplace_back(view->header().arena_bytes);
  std::uint8_t* bases[payload::kBaseCount] = {};
  bases[payload::kBaseConstant] = payload.data();
  for (unsigned i = 0; i < view->tensor_count(); ++i) {
    buffers.emplace_back(view->tensors()[i].nbytes);
    bases[payload::kBaseIo + i] = buffers.back().data();
  }
  bases[payload::kBaseArena] = buffers.front().data();
  for (const std::uint8_t* at = view->calls_begin(); at != view->calls_end();) {
    const auto& call = *reinterpret_cast<const payload::CallHeader*>(at);
    if (kKernels.kernels[call.opcode].run(&call + 1, bases) != executorch::runtime::Error::Ok) {
      break;
    }
    at += call.bytes;
  }
  return true;
}

TEST(Corruption, TheUndamagedPayloadRuns) {
  AlignedBytes payload = testing::all_operators();
  EXPECT_TRUE(run(payload));
}

/// The call of `opcode` gets `bytes` of scratch at the end of the arena, where one byte more is seen.
template <typename Args>
void expect_scratch_suffices(payload::Opcode opcode) {
  AlignedBytes payload = testing::all_operators();
  auto& args = testing::args_of<Args>(payload, opcode);
  const std::uint32_t arena_bytes = payload.header().arena_bytes;
  const auto& kernel = kKernels.kernels[static_cast<std::size_t>(opcode)];
  const std::uint32_t needed =
      kernel.scratch_bytes == nullptr ? 0 : kernel.scratch_bytes(&args);
  for (std::uint32_t bytes = 0; bytes <= 192; ++bytes) {
    const std::uint32_t begin = (arena_bytes - bytes) / 16 * 16;
    args.scratch = bytes == 0 ? payload::kNoRef : testing::make_ref(payload::kBaseArena, begin);
    args.scratch_bytes = static_cast<std::int32_t>(bytes);
    EXPECT_EQ(run(payload), bytes >= needed) << bytes << " bytes, needed " << needed;
  }
}

TEST(Corruption, ScratchOfEverySize) {
  expect_scratch_suffices<payload::Conv2dArgs>(payload::Opcode::kConv2d);
  expect_scratch_suffices<payload::DepthwiseConv2dArgs>(payload::Opcode::kDepthwiseConv2d);
  expect_scratch_suffices<payload::AvgPool2dArgs>(payload::Opcode::kAvgPool2d);
}

TEST(Corruption, TruncatedAtEveryByte) {
  const AlignedBytes whole = testing::all_operators();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    AlignedBytes part(size);
    std::memcpy(part.data(), whole.data(), size);
    ASSERT_FALSE(run(part)) << size << " bytes";
  }
}

TEST(Corruption, EverySingleByte) {
  AlignedBytes payload = testing::all_operators();
  int opened = 0;
  for (std::size_t i = 0; i < payload.size(); ++i) {
    const std::uint8_t original = payload.data()[i];
    const std::uint8_t values[] = {static_cast<std::uint8_t>(original ^ 0x01),
                                   static_cast<std::uint8_t>(original ^ 0x10),
                                   static_cast<std::uint8_t>(original ^ 0x80),
                                   static_cast<std::uint8_t>(original + 1),
                                   static_cast<std::uint8_t>(original - 1),
                                   0x00,
                                   0x7F,
                                   0xFF};
    for (const std::uint8_t value : values) {
      payload.data()[i] = value;
      opened += run(payload);
    }
    payload.data()[i] = original;
  }
  // Most single bytes are weights, padding and gaps, which do not matter to safety.
  EXPECT_GT(opened, 0);
}

/// Addresses computed from where these windows begin would not fit 31 bits.
TEST(Corruption, WindowsFarBehindTheImage) {
  testing::PayloadBuilder builder;
  payload::Conv2dArgs conv = {};
  conv.input = builder.input(payload::DType::kInt8, {1, 32767, 1, 1});
  conv.output = builder.output(payload::DType::kInt8, {1, 4, 1, 4});
  conv.filter = builder.constant(std::vector<std::int8_t>(2 * 32767));
  conv.bias = conv.multiplier = conv.shift = builder.constant(std::vector<std::int32_t>(1));
  conv.scratch = payload::kNoRef;
  conv.params = {0, 0, {32767, 32767}, {0, 0}, {1, 1}, {-128, 127}};
  conv.input_dims = {1, 1, 1, 32767};
  conv.filter_dims = {1, 1, 2, 32767};
  conv.output_dims = {1, 4, 4, 1};
  const std::size_t at = builder.call(payload::Opcode::kConv2d, conv);
  AlignedBytes payload = builder.finish();
  auto& args = payload.at<payload::Conv2dArgs>(payload.header().calls_offset + at);
  // CMSIS-NN wants scratch memory.
  const auto& kernel = kKernels.kernels[static_cast<std::size_t>(payload::Opcode::kConv2d)];
  if (kernel.scratch_bytes != nullptr) {
    args.scratch = testing::make_ref(payload::kBaseArena);
    args.scratch_bytes = static_cast<std::int32_t>(kernel.scratch_bytes(&args));
    payload.header().arena_bytes = static_cast<std::uint32_t>(args.scratch_bytes + 15) / 16 * 16;
  }
  EXPECT_TRUE(run(payload));
}

TEST(Corruption, SeveralFieldsAtOnce) {
  std::mt19937 random(20240229);
  const AlignedBytes original = testing::all_operators();
  const std::uint32_t interesting[] = {0,      1,          2,          3,         4,         16,
                                       36,     127,        128,        255,       640,       32767,
                                       32768,  65535,      0x0FFFFFFF, 0x10000000, 0x7FFFFFFF,
                                       0x80000000, 0xFFFFFFF0, 0xFFFFFF80, 0xFFFFFFFF};
  constexpr std::size_t kCount = sizeof(interesting) / sizeof(interesting[0]);
  const std::size_t words = (original.size() > 1400 ? 1400 : original.size()) / 4;
  int opened = 0;
  for (int i = 0; i < 30000; ++i) {
    AlignedBytes payload = original;
    for (std::uint32_t changes = 1 + random() % 3; changes != 0; --changes) {
      auto& word = payload.at<std::uint32_t>(4 * (random() % words));
      switch (random() % 3) {
        case 0:
          word = interesting[random() % kCount];
          break;
        case 1:
          word += random() % 17 - 8;
          break;
        default:  // the value of another field
          word = payload.at<std::uint32_t>(4 * (random() % words));
      }
    }
    opened += run(payload);
  }
  EXPECT_GT(opened, 0);
}

}  // namespace
}  // namespace cmsis_nn_delegate
