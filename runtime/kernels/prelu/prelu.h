// PReLU, for elements of any type.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/small_requantizer.h"
#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

/// -zero_point of the input and of the slopes, and the zero point of the output.
struct PreluOffsets {
  std::int32_t input;
  std::int32_t slope;
  std::int32_t output;
};

#if CMSIS_NN_DELEGATE_VECTORS
/// Computes `count` elements that lie together: all of them with the first slope, or each with its own.
template <bool kOneSlope, typename Element, typename Args>
inline void prelu_run(const Args& args, PreluOffsets offsets, const Element* input,
                      const Element* slopes, Element* output, std::int32_t count) {
  const Args a = args;  // the compiler has to think that stores of bytes change the original
  const int32x4_t first = vdupq_n_s32(*slopes);
  for_fours(count, [&](std::int32_t i, auto... lanes) {
    const int32x4_t values = vaddq_n_s32(load_four(input + i, lanes...), offsets.input);
    const int32x4_t stored = kOneSlope ? first : load_four(slopes + i, lanes...);
    const int32x4_t products = vmulq_s32(values, vaddq_n_s32(stored, offsets.slope));
    const int32x4_t scaled =
        vpselq_s32(requantize_four(values, a.positive_multiplier, a.positive_shift),
                   requantize_four(products, a.negative_multiplier, a.negative_shift),
                   vcmpgeq_n_s32(values, 0));
    store_four(output + i, clamp_four(vaddq_n_s32(scaled, offsets.output), a.activation), lanes...);
  });
}
#endif

#if CMSIS_NN_DELEGATE_WORDS
/// Computes `count` bytes that lie together. Slopes are `step` apart: 0, if all have the first one, or 1.
template <typename Limits>
inline void prelu_run(SmallRequantizer positive, SmallRequantizer negative, PreluOffsets offsets,
                      Limits activation, const std::int8_t* input, const std::int8_t* slopes,
                      std::int32_t step, std::int8_t* output, std::int32_t count) {
  for (const std::int8_t* const end = input + count; input != end;) {
    const std::int32_t slope = *slopes + offsets.slope;
    slopes += step;
    const std::int32_t value = *input++ + offsets.input;
    const std::int32_t scaled = value >= 0 ? positive(value) : negative(value * slope);
    *output++ = clamp(scaled + offsets.output, activation);
  }
}
#endif

template <typename Element, typename Args>
inline void prelu_elements(const Args& a, const Bases& bases, PreluOffsets offsets) {
  const auto* input = bases.resolve<const Element>(a.input);
  const auto* slopes = bases.resolve<const Element>(a.slopes);
  auto* output = bases.resolve<Element>(a.output);  // may be the input

#if CMSIS_NN_DELEGATE_VECTORS
  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    if (a.inner == 1) {
      prelu_run<false>(a, offsets, input, slopes, output, a.channels);
      input += a.channels;
      output += a.channels;
      continue;
    }
    for (std::int32_t channel = 0; channel < a.channels; ++channel) {
      prelu_run<true>(a, offsets, input, slopes + channel, output, a.inner);
      input += a.inner;
      output += a.inner;
    }
  }
#else
#if CMSIS_NN_DELEGATE_WORDS
  if constexpr (sizeof(Element) == 1) {
    constexpr std::int32_t kMostLeft = SmallRequantizer::kMostLeft;
    if (a.positive_shift <= kMostLeft && a.negative_shift <= kMostLeft) {
      const SmallRequantizer positive(a.positive_multiplier, a.positive_shift);
      const SmallRequantizer negative(a.negative_multiplier, a.negative_shift);
      // A copy: the compiler has to think that stores of bytes change the original.
      const auto limits = a.activation;
      // Runs with a slope for each element, or with one.
      const std::int32_t step = a.inner == 1 ? 1 : 0;
      const std::int32_t count = step == 1 ? a.channels : a.inner;
      const std::int32_t runs = step == 1 ? 1 : a.channels;
      for (std::int32_t outer = 0; outer < a.outer; ++outer) {
        for (std::int32_t run = 0; run < runs; ++run) {
          prelu_run(positive, negative, offsets, limits, input, slopes + run, step, output, count);
          input += count;
          output += count;
        }
      }
      return;
    }
  }
#endif
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
#endif
}

}  // namespace cmsis_nn_delegate::portable
