// Code shared by the two kernels of linear layers.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

/// `sum` + the products of `count` elements; wraps. A function of its own, because next to the other
/// pointers of a layer GCC keeps one of these in memory, which takes 8 instructions for a product on
/// M4 instead of 5.
[[gnu::noinline]] inline std::uint32_t add_products(std::uint32_t sum, const std::int8_t* row,
                                                    const std::int8_t* input, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    sum += static_cast<std::uint32_t>(row[i] * input[i]);
  }
  return sum;
}

/// Computes output[n][o] = requantized(bias[o] + weights[o] . input[n], o) for Args with the fields
/// batch, inputs, outputs, output_offset and activation. `requantized` maps (sum, output channel) to an
/// int32.
template <typename Args, typename Requantized>
void linear(const Args& a, const Bases& bases, Requantized requantized) {
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* weights = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  auto* output = bases.resolve<std::int8_t>(a.output);
  for (std::int32_t n = 0; n < a.batch; ++n) {
    const std::int8_t* row = weights;
    for (std::int32_t channel = 0; channel < a.outputs; ++channel) {
      const auto sum =
          add_products(static_cast<std::uint32_t>(bias[channel]), row, input, a.inputs);
      row += a.inputs;
      const std::int32_t value = requantized(static_cast<std::int32_t>(sum), channel);
      *output++ = clamp(wrapping_add(value, a.output_offset), a.activation);
    }
    input += a.inputs;
  }
}

}  // namespace cmsis_nn_delegate::portable
