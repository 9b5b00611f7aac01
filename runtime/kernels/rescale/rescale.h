// The arithmetic of rescalings, for elements of any types.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

/// Computes all elements as the block `a` says; `input_offset` is -zero_point of the input. `output` may be `input`.
template <typename Input, typename Output, typename Args>
inline void rescale_elements(const Args& a, const Bases& bases, std::int32_t input_offset) {
  const auto* input = bases.resolve<const Input>(a.input);
  auto* output = bases.resolve<Output>(a.output);
  for (std::int32_t i = 0; i < a.count; ++i) {
    const std::int32_t scaled = requantize(input[i] + input_offset, a.multiplier, a.shift);
    output[i] = clamp_to<Output>(wrapping_add(scaled, a.addend), a.activation);
  }
}

}  // namespace cmsis_nn_delegate::portable
