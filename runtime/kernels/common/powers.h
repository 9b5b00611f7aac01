// Powers of two with negative exponents, by a table and the lines between its entries.
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

}  // namespace cmsis_nn_delegate::portable
