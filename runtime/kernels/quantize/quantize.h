// Quantization of floats.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/quantize/round_half_even.h"

namespace cmsis_nn_delegate::portable {

/// `zero_point` is a value of Element.
template <typename Element, typename Args>
void quantize_elements(const Args& a, const Bases& bases, std::int32_t zero_point) {
  using Limits = std::numeric_limits<Element>;
  // Copies, because the compiler has to think that stores of bytes change arguments.
  const std::int32_t channels = a.channels;
  const std::int32_t pixels = a.pixels;
  const float inverse_scale = a.inverse_scale;
  const std::int32_t least = Limits::min() - zero_point;
  const std::int32_t most = Limits::max() - zero_point;
  const auto* input = bases.resolve<const float>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t channel = 0; channel < channels; ++channel) {
      Element* out = output + channel;
      for (const float* const end = input + pixels; input != end; out += channels) {
        // Two bits more than those of Element, because of the zero point.
        std::int32_t value = round_half_even<Limits::digits + 2>(*input++ * inverse_scale);
        value = value < least ? least : value;
        value = value > most ? most : value;
        *out = static_cast<Element>(value + zero_point);
      }
    }
    output += channels * pixels;
  }
}

}  // namespace cmsis_nn_delegate::portable
