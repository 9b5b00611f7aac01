// Weights of 4 bits, two in a byte, the first in the lower half.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable {

/// Weight `index` of `packed`.
inline std::int32_t nibble(const std::int8_t* packed, std::uint32_t index) {
  const auto byte = static_cast<std::uint8_t>(packed[index / 2]);
  const auto upper = static_cast<std::uint8_t>(index % 2 == 0 ? byte << 4 : byte & 0xF0);
  return static_cast<std::int8_t>(upper) >> 4;
}

/// `sum` + the products of `count` weights, from weight `first` on, with input + offset, int8 or int16; wraps.
template <typename Element>
std::uint32_t add_nibble_products(std::uint32_t sum, const std::int8_t* packed, std::uint32_t first,
                                  const Element* input, std::int32_t offset, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i, ++first) {
    sum += static_cast<std::uint32_t>(nibble(packed, first) * (input[i] + offset));
  }
  return sum;
}

}  // namespace cmsis_nn_delegate::portable
