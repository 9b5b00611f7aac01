// Square roots of integers, and what it takes to divide by them, without divisions of 64 bits.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable {

/// The greatest integer whose square is at most `value`.
inline std::uint32_t square_root(std::uint32_t value) {
  std::uint32_t root = 0;
  for (std::uint32_t bit = std::uint32_t{1} << 30; bit != 0; bit >>= 2) {
    const std::uint32_t tried = root + bit;
    root >>= 1;
    if (value >= tried) {
      value -= tried;
      root += bit;
    }
  }
  return root;
}

/// The same of 64 bits, at least one of whose upper two is set: the root of the upper half has the upper 16 bits of the
/// result, and a division gives the others [Zimmermann 1999, "Karatsuba square root"].
inline std::uint32_t large_square_root(std::uint64_t value) {
  const auto upper = static_cast<std::uint32_t>(value >> 32);
  const std::uint32_t high = square_root(upper);
  const std::uint32_t rest = upper - high * high;  // at most 2 * high, so 17 bits
  // floor((rest * 2^16 + the next 16 bits) / (2 * high)), without the last bit of the numerator, which the divisor does
  // not have.
  const std::uint32_t half = (rest << 15) | (static_cast<std::uint32_t>(value) >> 17);
  std::uint32_t low = half / high;
  if (low > 0xFFFF) {
    low = 0xFFFF;
  }
  // At most one too many.
  const std::uint32_t root = (high << 16) + low;
  return std::uint64_t{root} * root > value ? root - 1 : root;
}

/// 2^62 / divisor, rounded down, for a divisor of 2^31 or more: long division with digits of 16 bits [Knuth, The Art of
/// Computer Programming 2, 4.3.1, algorithm D].
inline std::uint32_t large_reciprocal(std::uint32_t divisor) {
  const std::uint32_t upper = divisor >> 16;
  std::uint32_t rest = std::uint32_t{1}
                       << 30;  // of the digits of 2^62 so far, less than the divisor
  std::uint32_t quotient = 0;
  for (int digits = 0; digits < 2; ++digits) {
    std::uint32_t digit = rest / upper;  // at most 2 too many
    std::uint32_t left = rest - digit * upper;
    while (left <= 0xFFFF && (digit > 0xFFFF || digit * (divisor & 0xFFFF) > left << 16)) {
      --digit;
      left += upper;
    }
    rest = (rest << 16) - digit * divisor;
    quotient = (quotient << 16) + digit;
  }
  return quotient;
}

}  // namespace cmsis_nn_delegate::portable
