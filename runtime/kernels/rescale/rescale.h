// The arithmetic of rescalings, for elements of any types.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/small_requantizer.h"
#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

/// Computes all elements as `args` says; `input_offset` is -zero_point of the input. The output may be the input, if its
/// elements are no larger.
template <typename Input, typename Output, typename Args>
inline void rescale_elements(const Args& args, const Bases& bases, std::int32_t input_offset) {
  const Args a = args;  // the compiler has to think that stores change the original
  const auto* input = bases.resolve<const Input>(a.input);
  auto* output = bases.resolve<Output>(a.output);
#if CMSIS_NN_DELEGATE_VECTORS
  for_fours(a.count, [&](std::int32_t i, auto... lanes) {
    const int32x4_t values = vaddq_n_s32(load_four(input + i, lanes...), input_offset);
    const int32x4_t scaled = requantize_four(values, a.multiplier, a.shift);
    store_four(output + i, clamp_four(vaddq_n_s32(scaled, a.addend), a.activation), lanes...);
  });
#else
#if CMSIS_NN_DELEGATE_WORDS
  if (a.shift <= SmallRequantizer::kMostLeft) {
    const SmallRequantizer requantizer(a.multiplier, a.shift);
    for (std::int32_t i = 0; i < a.count; ++i) {
      const std::int32_t scaled = requantizer(input[i] + input_offset);
      output[i] = clamp_to<Output>(wrapping_add(scaled, a.addend), a.activation);
    }
    return;
  }
#endif
  for (std::int32_t i = 0; i < a.count; ++i) {
    const std::int32_t scaled = requantize(input[i] + input_offset, a.multiplier, a.shift);
    output[i] = clamp_to<Output>(wrapping_add(scaled, a.addend), a.activation);
  }
#endif
}

}  // namespace cmsis_nn_delegate::portable
