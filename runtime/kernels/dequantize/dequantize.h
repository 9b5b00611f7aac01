// Floats of quantized elements.
#pragma once

#include <cstdint>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

template <typename Element, typename Args>
void dequantize_elements(const Args& a, const Bases& bases, std::int32_t zero_point) {
  // Copies, because the compiler has to think that stores of floats change arguments.
  const std::int32_t channels = a.channels;
  const std::int32_t pixels = a.pixels;
  const float scale = a.scale;
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<float>(a.output);

  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t channel = 0; channel < channels; ++channel) {
      const Element* in = input + channel;
      for (float* const end = output + pixels; output != end; in += channels) {
        *output++ = static_cast<float>(*in - zero_point) * scale;
      }
    }
    input += channels * pixels;
  }
}

}  // namespace cmsis_nn_delegate::portable
