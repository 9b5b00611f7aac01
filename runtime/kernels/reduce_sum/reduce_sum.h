// The sum over the middle one of three dimensions, for elements of any type.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

/// `input_offset` is -zero_point of the input, and `output_offset` the zero point of the output.
template <typename Element, typename Args>
inline void reduce_sum(const Args& a, const Bases& bases, std::int32_t input_offset,
                       std::int32_t output_offset) {
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    for (std::int32_t inner = 0; inner < a.inner; ++inner) {
      std::int32_t sum = 0;
      for (std::int32_t i = 0; i < a.axis; ++i) {
        sum = wrapping_add(sum, input[i * a.inner + inner] + input_offset);
      }
      const std::int32_t scaled = requantize(sum, a.output_multiplier, a.output_shift);
      *output++ = clamp_to<Element>(wrapping_add(scaled, output_offset), a.activation);
    }
    input += a.axis * a.inner;
  }
}

}  // namespace cmsis_nn_delegate::portable
