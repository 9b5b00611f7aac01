#include "tests/forms/cases.h"

#include <gtest/gtest.h>

#include <vector>

namespace cmsis_nn_delegate::forms {
namespace {

struct alignas(16) Block {
  std::uint8_t bytes[16];
};

std::size_t differing(const Case& test) {
  std::vector<Block> memory(1 << 16);
  return differing_bytes(test, memory.front().bytes, sizeof(Block) * memory.size());
}

TEST(Cases, ComputeWhatTheReferenceDoes) {
  ASSERT_GT(kCases.count, 0u);
  for (std::size_t i = 0; i < kCases.count; ++i) {
    EXPECT_EQ(differing(kCases.first[i]), 0u) << kCases.first[i].text;
  }
}

TEST(Cases, AWrongByteIsSeen) {
  for (std::size_t i = 0; i < kCases.count; ++i) {
    Case test = kCases.first[i];
    std::vector<Bytes> expected(test.expected, test.expected + test.output_count);
    std::vector<unsigned char> damaged(expected.back().data,
                                       expected.back().data + expected.back().size);
    damaged.back() ^= 1;
    expected.back().data = damaged.data();
    test.expected = expected.data();
    EXPECT_EQ(differing(test), 1u) << test.text;
  }
}

TEST(Cases, TooLittleMemoryIsNotAResult) {
  Block little = {};
  Case test = kCases.first[0];
  test.arena_bytes = sizeof(little) + 1;
  EXPECT_EQ(differing_bytes(test, little.bytes, sizeof(little)), kNotRun);
}

}  // namespace
}  // namespace cmsis_nn_delegate::forms
