#include "runtime/kernels/common/square_root.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace cmsis_nn_delegate::portable {
namespace {

bool is_root(std::uint64_t root, std::uint64_t value) {
  // (root + 1)^2 > value, without what does not fit 64 bits.
  return root * root <= value && value - root * root <= 2 * root;
}

TEST(SquareRootTest, IsThatOfNumbersOf32Bits) {
  std::mt19937 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto value = static_cast<std::uint32_t>(random() >> (i % 32));
    ASSERT_TRUE(is_root(square_root(value), value)) << value;
  }
}

TEST(LargeSquareRootTest, IsThatOfNumbersOf62BitsAndMore) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    std::uint64_t value = random() | std::uint64_t{1} << (62 + i % 2);
    ASSERT_TRUE(is_root(large_square_root(value), value)) << value;
    // Around a square, where the result changes.
    const std::uint64_t root = (random() >> 32) | 0x80000000u;
    for (const std::uint64_t near : {root * root - 1, root * root, root * root + 2 * root}) {
      if (near >> 62 != 0) {
        ASSERT_TRUE(is_root(large_square_root(near), near)) << near;
      }
    }
  }
}

TEST(LargeReciprocalTest, IsTheQuotientRoundedDown) {
  constexpr std::uint64_t kNumerator = std::uint64_t{1} << 62;
  std::mt19937 random(1);
  for (int i = 0; i < 3'000'000; ++i) {
    // Also divisors whose digits are nearly all ones or zeros.
    const std::uint32_t bits = i % 3 == 0   ? random()
                               : i % 3 == 1 ? random() | random() | random()
                                            : random() & random() & random();
    const std::uint32_t divisor = bits | 0x80000000u;
    ASSERT_EQ(large_reciprocal(divisor), kNumerator / divisor) << divisor;
  }
  for (std::uint32_t i = 0; i < 70'000; ++i) {
    ASSERT_EQ(large_reciprocal(0x80000000u + i), kNumerator / (0x80000000u + i));
    ASSERT_EQ(large_reciprocal(~i), kNumerator / ~i);
  }
}

TEST(LargeSquareRootTest, OfTheLeastAndTheLargest) {
  EXPECT_EQ(large_square_root(std::uint64_t{1} << 62), 0x80000000u);
  EXPECT_EQ(large_square_root(~std::uint64_t{0}), 0xFFFFFFFFu);
}

}  // namespace
}  // namespace cmsis_nn_delegate::portable
