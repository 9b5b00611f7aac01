// Powers of two, by a table and the lines between its entries.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/power_table.h"

namespace cmsis_nn_delegate::portable {

/// Of `power_line`, after the point.
inline constexpr std::int32_t kPowerBits = 25;

/// 2^(-x / 2^16) of the part of `x` that is after the point, in (2^24, 2^25].
inline std::uint32_t power_line(std::uint32_t x) {
  const std::uint32_t index = x >> 10 & 63;
  const std::uint32_t low = kPowerTable[index];
  return (low << 10) - (x & 1023) * (low - kPowerTable[index + 1]);
}

/// 2^(-x / 2^16), with `kPowerBits` bits after the point, rounded down.
inline std::uint32_t long_negative_power(std::uint32_t x) {
  const std::uint32_t shift = x >> 16;
  return power_line(x) >> (shift > 31 ? 31 : shift);
}

/// 2^(x / 2^16), rounded down to an integer; exponents above 32 count as 32.
inline std::uint64_t whole_power(std::int64_t x) {
  constexpr std::int64_t kMost = std::int64_t{32} << 16;
  constexpr std::int64_t kLeast = -(std::int64_t{1} << 16);
  const auto limited = static_cast<std::int32_t>(x > kMost ? kMost : x < kLeast ? kLeast : x);
  const std::int32_t exponent = (limited + 65535) >> 16;  // rounded up
  const std::uint64_t line = power_line(static_cast<std::uint32_t>(exponent * 65536 - limited));
  const std::int32_t shift = exponent - kPowerBits;
  return shift < 0 ? line >> -shift : line << shift;
}

}  // namespace cmsis_nn_delegate::portable
