// Linear layers with weights of 4 bits, for elements of any type.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/nibbles.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

/// Computes output[n][o] = requantized(bias[o] + weights[o] . input[n], o), and of int8 the zero point of the output more.
template <typename Element, typename Args>
[[gnu::always_inline]] inline void linear_nibbles(const Args& a, const Bases& bases) {
  const auto* input = bases.resolve<const Element>(a.input);
  const auto* weights = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  auto* output = bases.resolve<Element>(a.output);
  for (std::int32_t n = 0; n < a.batch; ++n) {
    std::uint32_t first = 0;  // weight of the row
    for (std::int32_t channel = 0; channel < a.outputs; ++channel) {
      const auto sum = static_cast<std::int32_t>(
          add_nibble_products(static_cast<std::uint32_t>(bias[channel]), weights, first, input,
                              /*offset=*/0, a.inputs));
      first += static_cast<std::uint32_t>(a.inputs);
      std::int32_t value = requantize(sum, multiplier[channel], shift[channel]);
      if constexpr (sizeof(Element) == 1) {
        value = wrapping_add(value, a.output_offset);
      }
      *output++ = clamp_to<Element>(value, a.activation);
    }
    input += a.inputs;
  }
}

}  // namespace cmsis_nn_delegate::portable
