#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/extension/data.h"
#include "tests/extension/peaks.model.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::Error;

struct Memory {
  alignas(PEAKS_ALIGNMENT) std::uint8_t arena[PEAKS_ARENA_BYTES + 1];
  alignas(PEAKS_ALIGNMENT) std::uint8_t state[peaks_state_bytes];
};

/// Returns the outputs of all executions, one after the other.
std::vector<std::int8_t> run(Memory& memory) {
  std::vector<std::int8_t> results;
  for (unsigned execution = 0; execution < kExecutions; ++execution) {
    const auto* input = reinterpret_cast<const std::int8_t*>(kInputs + execution * kCount);
    std::int8_t outputs[PEAKS_OUTPUT_COUNT][kCount] = {};
    EXPECT_EQ(peaks_run(memory.arena, memory.state, {input, outputs[0], outputs[1], outputs[2]}),
              Error::Ok);
    for (const auto& output : outputs) {
      results.insert(results.end(), output, output + kCount);
    }
  }
  return results;
}

TEST(CppCalls, RememberFromOneInferenceToTheNext) {
  const auto* first = reinterpret_cast<const std::int8_t*>(kOutputs);
  const std::vector<std::int8_t> expected(first, first + sizeof(kOutputs));
  Memory memory = {};
  Memory other = {};
  EXPECT_EQ(run(memory), expected);
  EXPECT_NE(run(memory), expected);
  EXPECT_EQ(run(other), expected);  // a state of its own
  std::memset(memory.state, 0, sizeof(memory.state));
  EXPECT_EQ(run(memory), expected);  // begins again
}

}  // namespace
}  // namespace cmsis_nn_delegate
