// Tables of int16 with an entry for every 2^shift-th number; TensorFlow Lite has them with a shift of 7.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable {

/// Returns the shift of a table with 513, 1025 or 2049 entries. The last entry is only read beside the one before.
inline std::int32_t interpolation_shift(std::int32_t entries) {
  return __builtin_clz(static_cast<std::uint32_t>(entries - 1)) - 15;
}

/// The result for an int16 `number` between the two entries around it; the first entry is that of -32768.
inline std::int32_t interpolate(const std::int16_t* table, std::int32_t number,
                                std::int32_t shift) {
  const std::int32_t cell = std::int32_t{1} << shift;
  const std::int16_t* entry = table + (32768 >> shift) + (number >> shift);
  return entry[0] + (((entry[1] - entry[0]) * (number & (cell - 1)) + cell / 2) >> shift);
}

}  // namespace cmsis_nn_delegate::portable
