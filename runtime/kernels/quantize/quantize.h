// Quantization of floats.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/quantize/round_half_even.h"

namespace cmsis_nn_delegate::portable {

#if CMSIS_NN_DELEGATE_FLOAT_VECTORS
/// Vectors take numbers below 2^-126 for 0. With these scales that makes no difference: products of such numbers are
/// below 1/2.
inline bool vectors_quantize(float inverse_scale) {
  return inverse_scale >= 0x1p-126f && inverse_scale < 0x1p124f;
}

/// Quantizes `count` floats to elements that lie `step` apart, four at a time. As in a scalar FPU, a product is rounded
/// to nearest and its conversion halves to even, and NaN becomes 0.
template <typename Element>
inline void quantize_run(const float* input, std::int32_t count, Element* output, std::int32_t step,
                         float inverse_scale, std::int32_t zero_point) {
  using Limits = std::numeric_limits<Element>;
  const int32x4_t least = vdupq_n_s32(Limits::min());
  const int32x4_t most = vdupq_n_s32(Limits::max());
  const float32x4_t factor = vdupq_n_f32(inverse_scale);
  const auto quantized = [=](float32x4_t x) {
    const int32x4_t nearest = vcvtnq_s32_f32(vmulq_f32(x, factor));
    return vminq_s32(vmaxq_s32(vqaddq_n_s32(nearest, zero_point), least), most);
  };
  if (step == 1) {
    for_fours(count, [=](std::int32_t i, auto... lanes) {
      store_four(output + i, quantized(load_four(input + i, lanes...)), lanes...);
    });
    return;
  }
  const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<std::uint32_t>(step));
  for_fours(count, [=](std::int32_t i, auto... lanes) {
    const int32x4_t values = quantized(load_four(input + i, lanes...));
    scatter_four(output + i * step, places, values, lanes...);
  });
}
#endif

// Where an instruction rounds a float (round_half_even.h).
#if CMSIS_NN_DELEGATE_WORDS && defined(__ARM_FP) && (__ARM_FP & 4) != 0
#define CMSIS_NN_DELEGATE_QUANTIZES_FOURS 1
#else
#define CMSIS_NN_DELEGATE_QUANTIZES_FOURS 0
#endif

#if CMSIS_NN_DELEGATE_QUANTIZES_FOURS
template <typename Element>
inline Element saturated(std::int32_t value) {
  return static_cast<Element>(__ssat(value, 8 * sizeof(Element)));
}
#endif

/// `zero_point` is a value of Element.
template <typename Element, typename Args>
void quantize_elements(const Args& a, const Bases& bases, std::int32_t zero_point) {
  using Limits = std::numeric_limits<Element>;
  // Copies, because the compiler has to think that stores of bytes change arguments.
  const std::int32_t channels = a.channels;
  const std::int32_t pixels = a.pixels;
  const float inverse_scale = a.inverse_scale;
  [[maybe_unused]] const std::int32_t least = Limits::min() - zero_point;
  [[maybe_unused]] const std::int32_t most = Limits::max() - zero_point;
  const auto* input = bases.resolve<const float>(a.input);
  auto* output = bases.resolve<Element>(a.output);

#if CMSIS_NN_DELEGATE_FLOAT_VECTORS
  if (pixels >= 4 && vectors_quantize(inverse_scale)) {
    for (std::int32_t n = 0; n < a.batch; ++n) {
      for (std::int32_t channel = 0; channel < channels; ++channel) {
        quantize_run(input, pixels, output + channel, channels, inverse_scale, zero_point);
        input += pixels;
      }
      output += channels * pixels;
    }
    return;
  }
#endif
  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t channel = 0; channel < channels; ++channel) {
      Element* out = output + channel;
      const float* const end = input + pixels;
#if CMSIS_NN_DELEGATE_QUANTIZES_FOURS
      const auto quantize_next = [&] {
        const float product = *input++ * inverse_scale;
        *out = saturated<Element>(__qadd(round_half_even<Limits::digits + 2>(product), zero_point));
        out += channels;
      };
      while (end - input >= 4) {  // which share what a loop takes
        quantize_next();
        quantize_next();
        quantize_next();
        quantize_next();
      }
      while (input != end) {
        quantize_next();
      }
#else
      for (; input != end; out += channels) {
        // Two bits more than those of Element, because of the zero point.
        std::int32_t value = round_half_even<Limits::digits + 2>(*input++ * inverse_scale);
        value = value < least ? least : value;
        value = value > most ? most : value;
        *out = static_cast<Element>(value + zero_point);
      }
#endif
    }
    output += channels * pixels;
  }
}

}  // namespace cmsis_nn_delegate::portable
