// What the two kernels of linear layers share.
#pragma once

#include <cstdint>

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/portable/requantize.h"

namespace cmsis_nn_delegate {
namespace portable {

/// output[n][o] = requantized(bias[o] + weights[o] . input[n], o), for Args with the fields batch,
/// inputs, outputs, output_offset and activation. `requantized` maps (sum, output channel) to an int32.
template <typename Args, typename Requantized>
void linear(const Args& a, std::uint8_t* const* bases, Requantized requantized) {
  const auto* input = resolve<const std::int8_t>(bases, a.input);
  const auto* weights = resolve<const std::int8_t>(bases, a.filter);
  const auto* bias = resolve<const std::int32_t>(bases, a.bias);
  auto* output = resolve<std::int8_t>(bases, a.output);
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
