// Runs damaged payloads without a fuzzer: the compiled seeds, and a fixed number of mutations of each, with
// sanitizers. The first violation ends the test. A part of the mutations is drawn anew whenever this program or the
// seeds change.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/payload/crc32.h"
#include "runtime/payload/view.h"
#include "tests/fuzz/editor.h"
#include "tests/fuzz/kernels.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/operands.h"
#include "tests/fuzz/run_payload.h"
#include "tests/payloads/payload_builder.h"

namespace cmsis_nn_delegate::fuzz {
namespace {

using testing::AlignedBytes;

constexpr std::uint32_t kMutationsOfASeed = 320;
constexpr std::uint32_t kDrawnMutations = 80;  // of these
constexpr std::uint32_t kGenerations = 4;      // mutations of mutations
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

/// Mutates `payload` again and again. A step of the mutator outside of the payload ends the test.
void mutate_only(const AlignedBytes& payload, std::uint32_t count) {
  for (std::uint32_t number = 0; number < count; ++number) {
    // As large as the payload, or with room for more constants and calls.
    AlignedBytes room(payload.size() + 1024 * (number % 4));
    std::memcpy(room.data(), payload.data(), payload.size());
    std::size_t size = payload.size();
    for (int generation = 0; generation < 3; ++generation) {
      size = mutate(room.data(), size, room.size(), 3 * number + generation, tested_kernels());
      ASSERT_LE(size, room.size());
    }
  }
}

TEST(Mutator, StaysInPayloadsThatLackOrCopy) {
  constexpr std::uint32_t kTimes = 1500;
  mutate_only(small_network(), kTimes);
  for (const bool in_regions : {false, true}) {
    AlignedBytes bare = small_network(in_regions);
    const std::uint32_t regions[] = {16, 32};
    bare.header().input_count = bare.header().output_count = 0;
    if (in_regions) {
      bare.header().region_count = 2;
      std::memcpy(bare.data() + bare.header().header_bytes, regions, sizeof(regions));
    }
    mutate_only(bare, kTimes);
    bare.header().persistent_bytes = 32;
    mutate_only(bare, kTimes);
    bare.header().copied_bytes = 16;
    mutate_only(bare, kTimes);
    bare.header().constants_bytes = 16;  // more are not there to copy
    mutate_only(bare, kTimes);
  }
}

TEST(Mutator, EndsLoudlyOutsideOfThePayload) {
  AlignedBytes payload = small_network(true);
  Editor editor(payload.data(), payload.size(), payload.size());
  ASSERT_TRUE(editor.parse());
  const unsigned calls = editor.call_count();
  EXPECT_DEATH(editor.tensor(editor.tensor_count()), "no such input or output");
  EXPECT_DEATH(editor.region_size(editor.region_count()), "no such region");
  EXPECT_DEATH(editor.region_size(0u - 1), "no such region");
  EXPECT_DEATH(editor.opcode(calls), "no such call");
  EXPECT_DEATH(editor.word(0, 4096), "behind its call");
  EXPECT_DEATH(editor.resize(payload.size() + 1), "larger than its buffer");
  const payload::Ref constants = editor.reference(payload::kBaseConstant, 0);
  const std::uint32_t bytes = editor.header().constants_bytes;
  EXPECT_NE(editor.constants(constants, bytes), nullptr);
  EXPECT_EQ(editor.constants(constants, bytes + 1), nullptr);
  EXPECT_EQ(editor.constants(constants - 4, 4), nullptr);
  EXPECT_EQ(editor.constants(testing::make_ref(payload::kBaseArena), 4), nullptr);
}

/// Returns the seed of the mutations that differ between two versions of this program or of the compiled payloads: the
/// same test result for the same inputs, and other payloads with each change. REPLAY_SEED repeats them.
std::uint32_t drawn_seed() {
  if (const char* given = std::getenv("REPLAY_SEED"); given != nullptr) {
    return static_cast<std::uint32_t>(std::strtoul(given, nullptr, 0));
  }
  std::vector<std::uint8_t> bytes = read("/proc/self/exe");
  for (const AlignedBytes& seed : seeds()) {
    bytes.insert(bytes.end(), seed.data(), seed.data() + seed.size());
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
}

TEST(Replay, MutatedSeeds) {
  const std::uint32_t drawn = drawn_seed();
  std::printf("REPLAY_SEED=%u repeats the drawn mutations\n", drawn);
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
      const std::uint32_t fixed = static_cast<std::uint32_t>(i) * kMutationsOfASeed + n;
      const bool is_drawn = n >= kMutationsOfASeed - kDrawnMutations;
      const std::uint32_t number = is_drawn ? fixed ^ drawn : fixed;
      size = mutate(payload.data(), size, kMaxPayloadBytes, number, tested_kernels(),
                    n % 3 == 0 ? donor.data() : nullptr, other.size());
      SCOPED_TRACE("mutation " + std::to_string(number));
      run_payload(payload.data(), size, tested_kernels());
    }
  }
  print_totals(tested_kernels());
  const Totals& t = totals();
  // If all were refused or all were harmless, nothing would be tested.
  EXPECT_GT(t.outcomes[static_cast<unsigned>(Outcome::kRan)],
            seeds().size() * kMutationsOfASeed / 14);
  EXPECT_GT(t.outcomes[static_cast<unsigned>(Outcome::kRefused)],
            seeds().size() * kMutationsOfASeed / 10);
  for (std::size_t opcode = 1; opcode < payload::kOpcodeCount; ++opcode) {
    if (tested_kernels().find(opcode) != nullptr) {
      EXPECT_GT(t.calls[opcode], 0u) << "opcode " << opcode;
    }
  }
}

}  // namespace
}  // namespace cmsis_nn_delegate::fuzz
