// The arithmetic of products, for the kernels of both argument blocks.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"

namespace cmsis_nn_delegate::portable {

/// Computes `count` elements as the block `a` says. `output` may be an input.
template <typename Args>
inline void multiply_elements(const Args& a, const std::int8_t* input1, const std::int8_t* input2,
                              std::int8_t* output, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t product = (input1[i] + a.input1_offset) * (input2[i] + a.input2_offset);
    const std::int32_t scaled = requantize(product, a.output_multiplier, a.output_shift);
    output[i] = clamp(wrapping_add(scaled, a.output_offset), a.activation);
  }
}

/// The same of int16, whose zero points are 0.
template <typename Args>
inline void multiply_elements(const Args& a, const std::int16_t* input1, const std::int16_t* input2,
                              std::int16_t* output, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t product = input1[i] * input2[i];
    const std::int32_t scaled = requantize(product, a.output_multiplier, a.output_shift);
    output[i] = clamp_to<std::int16_t>(scaled, a.activation);
  }
}

}  // namespace cmsis_nn_delegate::portable
