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
  // Added once in the place of to each element, so that no register holds it in the inner loop, which has none to spare.
  const std::int32_t start = wrapping_mul(a.axis, input_offset);

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    for (std::int32_t inner = 0; inner < a.inner; ++inner) {
      std::int32_t sum = start;
      const Element* element = input + inner;
      for (std::int32_t i = a.axis; i > 0; --i, element += a.inner) {
        sum = wrapping_add(sum, *element);
      }
      const std::int32_t scaled = requantize(sum, a.output_multiplier, a.output_shift);
      *output++ = clamp_to<Element>(wrapping_add(scaled, output_offset), a.activation);
    }
    input += a.axis * a.inner;
  }
}

}  // namespace cmsis_nn_delegate::portable
