// PReLU, for elements of any type.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

/// -zero_point of the input and of the slopes, and the zero point of the output.
struct PreluOffsets {
  std::int32_t input;
  std::int32_t slope;
  std::int32_t output;
};

template <typename Element, typename Args>
inline void prelu_elements(const Args& a, const Bases& bases, PreluOffsets offsets) {
  const auto* input = bases.resolve<const Element>(a.input);
  const auto* slopes = bases.resolve<const Element>(a.slopes);
  auto* output = bases.resolve<Element>(a.output);  // may be the input

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    for (std::int32_t channel = 0; channel < a.channels; ++channel) {
      const std::int32_t slope = slopes[channel] + offsets.slope;
      for (std::int32_t inner = 0; inner < a.inner; ++inner) {
        const std::int32_t value = *input++ + offsets.input;
        const std::int32_t scaled =
            value >= 0 ? requantize(value, a.positive_multiplier, a.positive_shift)
                       : requantize(value * slope, a.negative_multiplier, a.negative_shift);
        *output++ = clamp_to<Element>(wrapping_add(scaled, offsets.output), a.activation);
      }
    }
  }
}

}  // namespace cmsis_nn_delegate::portable
