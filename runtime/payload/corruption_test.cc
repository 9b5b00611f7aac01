// Damaged payloads: whatever opens must run within its buffers. Built with the address and the
// undefined behaviour sanitizer, which end the test at the first violation.
#include <random>

#include <gtest/gtest.h>

#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/payload_builder.h"
#include "runtime/payload/view.h"

namespace cmsis_nn_delegate {
namespace {

using testing::AlignedBytes;

/// Runs the calls of `payload`, if it opens, with buffers of exactly the stated sizes.
/// Returns whether it opened.
bool run(AlignedBytes& payload) {
  const auto view = PayloadView::open(payload.data(), payload.size(), kPortableKernels);
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
    if (kPortableKernels.kernels[call.opcode](&call + 1, bases) !=
        executorch::runtime::Error::Ok) {
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
