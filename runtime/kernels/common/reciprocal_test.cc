#include "runtime/kernels/common/reciprocal.h"

#include <gtest/gtest.h>

namespace cmsis_nn_delegate::portable {
namespace {

constexpr std::int32_t kMost = 256;

std::int32_t mean(std::int32_t sum, std::int32_t count) {
  return (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
}

std::int32_t upper(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>((std::int64_t{a} * b) >> 16);
}

TEST(ReciprocalTest, GivesTheMeanOfEverySum) {
  for (std::int32_t count = 1; count <= kMost; ++count) {
    const std::int32_t factor = reciprocal_of(count);
    for (std::int32_t sum = -128 * count; sum <= 127 * count; ++sum) {
      ASSERT_EQ((upper(sum, factor) + 128) >> 8, mean(sum, count)) << sum << " / " << count;
    }
  }
}

// As MVE computes it: products of 16 bits, which may wrap around.
TEST(ReciprocalTest, GivesItInTwoPartsOf16Bits) {
  for (std::int32_t count = 1; count <= kMost; ++count) {
    const std::int32_t factor = reciprocal_of(count);
    const auto low = static_cast<std::int16_t>(factor & 0xFFFF);
    const std::int32_t high = (factor - low) >> 16;
    for (std::int32_t sum = -128 * count; sum <= 127 * count; ++sum) {
      const auto product = static_cast<std::int16_t>((upper(sum, low) + sum * high) & 0xFFFF);
      const auto found = static_cast<std::int8_t>(((product + 128) >> 8) & 0xFF);
      ASSERT_EQ(found, mean(sum, count)) << sum << " / " << count;
    }
  }
}

}  // namespace
}  // namespace cmsis_nn_delegate::portable
