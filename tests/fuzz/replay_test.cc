// Damaged payloads without a fuzzer: the compiled seeds, and a fixed number of mutations of each, with the
// sanitizers of whatever compiler builds the rest. The first violation ends the test.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/payload/crc32.h"
#include "runtime/payload/payload_builder.h"
#include "tests/fuzz/kernels.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/operands.h"
#include "tests/fuzz/run_payload.h"

namespace cmsis_nn_delegate {
namespace fuzz {
namespace {

using testing::AlignedBytes;

constexpr std::uint32_t kMutationsOfASeed = 150;
constexpr std::uint32_t kGenerations = 4;  // mutations of mutations

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

/// all_operators(), then the payloads of the file that SEEDS names.
const std::vector<AlignedBytes>& seeds() {
  static const std::vector<AlignedBytes> all = [] {
    std::vector<AlignedBytes> result;
    result.push_back(testing::all_operators());
    repair(result[0].data(), result[0].size(), tested_kernels());
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

void recompute_crc(AlignedBytes& payload) {
  payload.header().crc32 = payload_crc32(payload.data(), payload.size());
}

Outcome run(const AlignedBytes& payload) {
  return run_payload(payload.data(), payload.size(), tested_kernels());
}

TEST(Replay, SeedsRunWhateverMemoryHeld) {
  ASSERT_GT(seeds().size(), 100u) << "SEEDS does not name the compiled payloads";
  for (std::size_t i = 1; i < seeds().size(); ++i) {
    const AlignedBytes& seed = seeds()[i];
    EXPECT_EQ(run_payload(seed.data(), seed.size(), tested_kernels(), Fillings::kDifferent),
              Outcome::kRan)
        << "seed " << i;
  }
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
  print_totals(tested_kernels().name);
  const Totals& t = totals();
  // Neither may all be refused nor may all be harmless, or nothing is tested.
  EXPECT_GT(t.outcomes[static_cast<unsigned>(Outcome::kRan)], seeds().size() * kMutationsOfASeed / 10);
  EXPECT_GT(t.outcomes[static_cast<unsigned>(Outcome::kRefused)], seeds().size() * kMutationsOfASeed / 10);
  for (std::size_t opcode = 1; opcode < payload::kOpcodeCount; ++opcode) {
    EXPECT_GT(t.calls[opcode], 0u) << "opcode " << opcode;
  }
}

}  // namespace
}  // namespace fuzz
}  // namespace cmsis_nn_delegate
