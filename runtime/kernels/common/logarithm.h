// Binary logarithms in fixed point.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable {

/// Of logarithms, and of numbers in steps of the output, after the point.
inline constexpr int kLogBits = 20;

/// The binary logarithm of a number with `point` bits after the point, which is not 0, with `kLogBits` ones: each
/// squaring of the mantissa gives one bit.
inline std::int32_t log2_of(std::uint64_t number, std::int32_t point) {
  const int bits = 64 - __builtin_clzll(number);
  auto mantissa =
      static_cast<std::uint32_t>(bits <= 32 ? number << (32 - bits) : number >> (bits - 32));
  std::int32_t result = bits - 1 - point;
  for (int i = 0; i < kLogBits; ++i) {
    const std::uint64_t square = static_cast<std::uint64_t>(mantissa) * mantissa;
    const auto high = static_cast<std::uint32_t>(square >> 32);
    const std::uint32_t carry = high >> 31;
    mantissa = carry != 0 ? high : static_cast<std::uint32_t>(square >> 31);
    result = result * 2 + static_cast<std::int32_t>(carry);
  }
  return result;
}

}  // namespace cmsis_nn_delegate::portable
