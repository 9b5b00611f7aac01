// The arithmetic of sums, for the kernels of both argument blocks.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"

namespace cmsis_nn_delegate::portable {

/// Computes `count` elements as the block `a` says. `output` may be an input.
template <typename Args>
inline void add_elements(const Args& a, const std::int8_t* input1, const std::int8_t* input2,
                         std::int8_t* output, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t scaled1 =
        requantize(wrapping_shift_left(input1[i] + a.input1_offset, a.left_shift),
                   a.input1_multiplier, a.input1_shift);
    const std::int32_t scaled2 =
        requantize(wrapping_shift_left(input2[i] + a.input2_offset, a.left_shift),
                   a.input2_multiplier, a.input2_shift);
    const std::int32_t sum =
        requantize(wrapping_add(scaled1, scaled2), a.output_multiplier, a.output_shift);
    output[i] = clamp(wrapping_add(sum, a.output_offset), a.activation);
  }
}

/// The same of int16, whose zero points are 0.
template <typename Args>
inline void add_elements(const Args& a, const std::int16_t* input1, const std::int16_t* input2,
                         std::int16_t* output, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t scaled1 = requantize(wrapping_shift_left(input1[i], a.left_shift),
                                            a.input1_multiplier, a.input1_shift);
    const std::int32_t scaled2 = requantize(wrapping_shift_left(input2[i], a.left_shift),
                                            a.input2_multiplier, a.input2_shift);
    const std::int32_t sum =
        requantize(wrapping_add(scaled1, scaled2), a.output_multiplier, a.output_shift);
    output[i] = clamp_to<std::int16_t>(sum, a.activation);
  }
}

}  // namespace cmsis_nn_delegate::portable
