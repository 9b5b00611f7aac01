// Runs damaged payloads without a fuzzer: the compiled seeds, and a fixed number of mutations of each, with the
// sanitizers of the host's compiler. The first violation ends the test.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/payload/crc32.h"
#include "runtime/payload/payload_builder.h"
#include "runtime/payload/view.h"
#include "tests/fuzz/kernels.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/operands.h"
#include "tests/fuzz/run_payload.h"

namespace cmsis_nn_delegate {
namespace fuzz {
namespace {

using testing::AlignedBytes;

constexpr std::uint32_t kMutationsOfASeed = 500;
constexpr std::uint32_t kGenerations = 4;  // mutations of mutations
constexpr std::int32_t kScratch = 192;  // in small_network(), at the end of the arena or a region

std::vector<std::uint8_t> read(const char* path) {
  std::vector<std::uint8_t> bytes;
  std::FILE* file = std::fopen(path, "rb");
  if (file != nullptr) {
    std::uint8_t block[4096];
    for (std::size_t count; (count = std::fread(block, 1, sizeof(block), file)) != 0;) {
      bytes.insert(bytes.end(), block, block + count);
    }
    std::fclose(file);
  }
  return bytes;
}

/// Returns testing::small_network() or small_network_in_regions() for the tested kernels, with scratch memory for each of
/// them.
AlignedBytes small_network(bool in_regions = false) {
  AlignedBytes payload =
      in_regions ? testing::small_network_in_regions() : testing::small_network();
  const PayloadView view(payload.header());
  static_assert(testing::kSmallRegions[1] == kScratch, "the second region is scratch memory");
  const payload::Ref scratch =
      in_regions ? testing::make_ref(view.region_base() + 1)
                 : testing::make_ref(payload::kBaseArena, payload.header().arena_bytes - kScratch);
  const auto give = [&](auto& args) {
    args.scratch = scratch;
    args.scratch_bytes = kScratch;
  };
  give(testing::args_of<payload::Conv2dArgs>(payload, payload::Opcode::kConv2d));
  give(testing::args_of<payload::DepthwiseConv2dArgs>(payload, payload::Opcode::kDepthwiseConv2d));
  give(testing::args_of<payload::AvgPool2dArgs>(payload, payload::Opcode::kAvgPool2d));
  repair(payload.data(), payload.size(), tested_kernels());
  return payload;
}

/// Returns the payloads in the file that SEEDS names.
const std::vector<AlignedBytes>& seeds() {
  static const std::vector<AlignedBytes> all = [] {
    std::vector<AlignedBytes> result;
    const char* path = std::getenv("SEEDS");
    const std::vector<std::uint8_t> blob = read(path == nullptr ? "" : path);
    for (std::size_t at = 0; at < blob.size();) {
      payload::Header header;
      std::memcpy(&header, blob.data() + at, sizeof(header));
      AlignedBytes payload(header.payload_bytes);
      std::memcpy(payload.data(), blob.data() + at, payload.size());
      result.push_back(payload);
      at += header.payload_bytes;
    }
    return result;
  }();
  return all;
}

/// Sets the CRC that the bytes have.
Outcome run(AlignedBytes& payload) {
  if (payload.size() >= payload.header().payload_bytes) {
    payload.header().crc32 = 0;
    payload.header().crc32 = payload_crc32(payload.data(), payload.header().payload_bytes);
  }
  return run_payload(payload.data(), payload.size(), tested_kernels());
}

TEST(Replay, SeedsRunWhateverMemoryHeld) {
  ASSERT_GT(seeds().size(), 100u) << "SEEDS does not name the compiled payloads";
  for (std::size_t i = 0; i < seeds().size(); ++i) {
    const AlignedBytes& seed = seeds()[i];
    EXPECT_EQ(run_payload(seed.data(), seed.size(), tested_kernels(), Fillings::kDifferent),
              Outcome::kRan)
        << "seed " << i;
  }
}

class ReplaySmall : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Memories, ReplaySmall, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "InRegions" : "InTheArena"; });

TEST_P(ReplaySmall, TruncatedAtEveryByte) {
  const AlignedBytes whole = small_network(GetParam());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_EQ(run_payload(whole.data(), size, tested_kernels()), Outcome::kRefused)
        << size << " bytes";
  }
  EXPECT_EQ(run_payload(whole.data(), whole.size(), tested_kernels()), Outcome::kRan);
}

TEST_P(ReplaySmall, EverySingleByte) {
  AlignedBytes payload = small_network(GetParam());
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
      run(payload);
    }
    payload.data()[i] = original;
  }
  EXPECT_EQ(run(payload), Outcome::kRan);
}

/// Gives the call of `opcode` `bytes` of scratch at the end of the arena, where one more byte would be detected.
template <typename Args>
void expect_scratch_suffices(payload::Opcode opcode) {
  AlignedBytes payload = small_network();
  auto& args = testing::args_of<Args>(payload, opcode);
  const std::uint32_t arena_bytes = payload.header().arena_bytes;
  const Kernel& kernel = *tested_kernels().find(opcode);
  const std::int32_t needed =
      kernel.scratch_bytes == nullptr ? 0 : static_cast<std::int32_t>(kernel.scratch_bytes(&args));
  ASSERT_LE(needed, kScratch);
  for (std::int32_t bytes = 0; bytes <= kScratch; ++bytes) {
    const std::uint32_t begin = (arena_bytes - static_cast<std::uint32_t>(bytes)) / 16 * 16;
    args.scratch = bytes == 0 ? payload::kNoRef : testing::make_ref(payload::kBaseArena, begin);
    args.scratch_bytes = bytes;
    EXPECT_EQ(run(payload), bytes >= needed ? Outcome::kRan : Outcome::kRefused)
        << bytes << " bytes, needed " << needed;
  }
}

TEST(Replay, ScratchOfEverySize) {
  expect_scratch_suffices<payload::Conv2dArgs>(payload::Opcode::kConv2d);
  expect_scratch_suffices<payload::DepthwiseConv2dArgs>(payload::Opcode::kDepthwiseConv2d);
  expect_scratch_suffices<payload::AvgPool2dArgs>(payload::Opcode::kAvgPool2d);
}

TEST(Replay, MutatedSeeds) {
  AlignedBytes payload(kMaxPayloadBytes);
  AlignedBytes donor(kMaxPayloadBytes);
  for (std::size_t i = 0; i < seeds().size(); ++i) {
    const AlignedBytes& seed = seeds()[i];
    std::size_t size = 0;
    for (std::uint32_t n = 0; n < kMutationsOfASeed; ++n) {
      const bool fresh = n % kGenerations == 0;
      if (fresh) {
        size = seed.size();
        std::memcpy(payload.data(), seed.data(), size);
      }
      const AlignedBytes& other = seeds()[(i * 31 + n) % seeds().size()];
      std::memcpy(donor.data(), other.data(), other.size());
      const std::uint32_t number = static_cast<std::uint32_t>(i) * kMutationsOfASeed + n;
      size = mutate(payload.data(), size, kMaxPayloadBytes, number, tested_kernels(),
                    n % 3 == 0 ? donor.data() : nullptr, other.size());
      SCOPED_TRACE("mutation " + std::to_string(number));
      run_payload(payload.data(), size, tested_kernels());
    }
  }
  print_totals(tested_kernels().provider->name);
  const Totals& t = totals();
  // If all were refused or all were harmless, nothing would be tested.
  EXPECT_GT(t.outcomes[static_cast<unsigned>(Outcome::kRan)],
            seeds().size() * kMutationsOfASeed / 10);
  EXPECT_GT(t.outcomes[static_cast<unsigned>(Outcome::kRefused)],
            seeds().size() * kMutationsOfASeed / 10);
  for (std::size_t opcode = 1; opcode < payload::kOpcodeCount; ++opcode) {
    if (tested_kernels().find(opcode) != nullptr) {
      EXPECT_GT(t.calls[opcode], 0u) << "opcode " << opcode;
    }
  }
}

}  // namespace
}  // namespace fuzz
}  // namespace cmsis_nn_delegate
