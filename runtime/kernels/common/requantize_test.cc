#include "runtime/kernels/common/requantize.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace cmsis_nn_delegate::portable {
namespace {

constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();

/// value / 2^exponent, halves away from zero, by division.
std::int64_t divide(std::int64_t value, int exponent) {
  const std::int64_t divisor = std::int64_t{1} << exponent;
  const std::int64_t magnitude = value < 0 ? -value : value;
  const std::int64_t quotient = magnitude / divisor;
  const std::int64_t rounded = quotient + (2 * (magnitude % divisor) >= divisor ? 1 : 0);
  return value < 0 ? -rounded : rounded;
}

TEST(RoundingDivide, HalvesGoAwayFromZero) {
  EXPECT_EQ(rounding_divide_by_pow2(5, 1), 3);
  EXPECT_EQ(rounding_divide_by_pow2(-5, 1), -3);
  EXPECT_EQ(rounding_divide_by_pow2(6, 2), 2);
  EXPECT_EQ(rounding_divide_by_pow2(-6, 2), -2);
  EXPECT_EQ(rounding_divide_by_pow2(-7, 0), -7);
  EXPECT_EQ(rounding_divide_by_pow2(kMax, 31), 1);
  EXPECT_EQ(rounding_divide_by_pow2(kMin, 31), -1);
}

TEST(RoundingDivide, AsDivisionForRandomValues) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const auto value = static_cast<std::int32_t>(random()) >> (random() % 32);
    const int exponent = static_cast<int>(random() % 32);
    ASSERT_EQ(rounding_divide_by_pow2(value, exponent), divide(value, exponent))
        << value << " / 2^" << exponent;
  }
}

TEST(Requantize, KnownValues) {
  constexpr std::int32_t kHalf = 1 << 30;  // 0.5 in Q31
  EXPECT_EQ(requantize(100, kHalf, 0), 50);
  EXPECT_EQ(requantize(100, kHalf, 1), 100);
  EXPECT_EQ(requantize(100, kHalf, -1), 25);
  EXPECT_EQ(requantize(3, kHalf, 0), 2);     // 1.5: up
  EXPECT_EQ(requantize(-3, kHalf, 0), -1);   // -1.5: up, the first rounding is half up
  EXPECT_EQ(requantize(-6, kHalf, -1), -2);  // -3 / 2: away from zero, the second is
  EXPECT_EQ(requantize(12345, 0, 0), 0);
  EXPECT_EQ(requantize(kMin, kMax, 0), kMin + 1);
}

TEST(Requantize, TwoRoundingsForRandomValues) {
  std::mt19937 random(2);
  for (int i = 0; i < 200000; ++i) {
    const auto value = static_cast<std::int32_t>(random()) >> (8 + random() % 24);
    const auto multiplier = static_cast<std::int32_t>((1u << 30) + random() % (1u << 30));
    const int shift = static_cast<int>(random() % 40) - 31;
    const std::int64_t scaled = static_cast<std::int64_t>(value) << (shift > 0 ? shift : 0);
    if (scaled > kMax || scaled < kMin) {
      continue;  // wraps: the next test
    }
    // floor(x + 1/2) of x = scaled * multiplier / 2^31, by division.
    const __int128 product = static_cast<__int128>(scaled) * multiplier + (1 << 30);
    __int128 floor = product / (std::int64_t{1} << 31);
    if (product < 0 && floor * (std::int64_t{1} << 31) != product) {
      --floor;
    }
    const std::int64_t expected = divide(static_cast<std::int64_t>(floor), shift < 0 ? -shift : 0);
    ASSERT_EQ(requantize(value, multiplier, shift), expected)
        << value << " * " << multiplier << " << " << shift;
  }
}

TEST(Requantize, DefinedForEveryInput) {
  // The results do not matter; the sanitizers of tests/fuzz watch.
  for (const std::int32_t value : {kMin, -1, 0, 1, kMax}) {
    for (const std::int32_t multiplier : {kMin, -1, 0, 1, kMax}) {
      for (const std::int32_t shift : {kMin, -64, -32, -31, 0, 30, 31, 32, 1000, kMax}) {
        (void)requantize(value, multiplier, shift);
      }
    }
  }
  EXPECT_EQ(requantize(1 << 20, 1 << 30, 12), 0);  // shifted out
}

}  // namespace
}  // namespace cmsis_nn_delegate::portable
