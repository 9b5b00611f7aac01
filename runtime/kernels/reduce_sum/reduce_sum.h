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
  const std::int32_t size = a.inner;
  // Added once in the place of to each element, so that no register holds it in the inner loops, which have none to spare.
  const std::int32_t start = wrapping_mul(a.axis, input_offset);
  const auto result = [&a, output_offset](std::int32_t sum) {
    const std::int32_t scaled = requantize(sum, a.output_multiplier, a.output_shift);
    return clamp_to<Element>(wrapping_add(scaled, output_offset), a.activation);
  };

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    std::int32_t inner = 0;
    constexpr std::int32_t kAtATime = 4;  // sums, which share what a loop takes
    for (; inner + kAtATime <= size; inner += kAtATime) {
      std::int32_t sums[kAtATime] = {start, start, start, start};
      const Element* element = input + inner;
      for (std::int32_t i = a.axis; i > 0; --i, element += size) {
        sums[0] = wrapping_add(sums[0], element[0]);
        sums[1] = wrapping_add(sums[1], element[1]);
        sums[2] = wrapping_add(sums[2], element[2]);
        sums[3] = wrapping_add(sums[3], element[3]);
      }
      for (const std::int32_t sum : sums) {
        *output++ = result(sum);
      }
    }
    for (; inner < size; ++inner) {
      std::int32_t sum = start;
      const Element* element = input + inner;
      for (std::int32_t i = a.axis; i > 0; --i, element += size) {
        sum = wrapping_add(sum, *element);
      }
      *output++ = result(sum);
    }
    input += a.axis * size;
  }
}

}  // namespace cmsis_nn_delegate::portable
