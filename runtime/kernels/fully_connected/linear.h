// Code shared by the two kernels of linear layers.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {
namespace portable {

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
      auto acc = static_cast<std::uint32_t>(bias[channel]);
      for (std::int32_t i = 0; i < a.inputs; ++i) {
        acc += static_cast<std::uint32_t>(row[i] * input[i]);
      }
      row += a.inputs;
      const std::int32_t value = requantized(static_cast<std::int32_t>(acc), channel);
      *output++ = clamp(wrapping_add(value, a.output_offset), a.activation);
    }
    input += a.inputs;
  }
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
