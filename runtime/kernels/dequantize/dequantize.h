// Floats of quantized elements.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/dequantize/dequantize_words.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

#if CMSIS_NN_DELEGATE_FLOAT_VECTORS
/// Vectors make 0 of numbers below 2^-126: there are none with these scales.
inline bool vectors_dequantize(float scale) { return scale >= 0x1p-126f; }

/// Writes the floats of `count` elements that lie `step` apart, four at a time.
template <typename Element>
inline void dequantize_run(const Element* input, std::int32_t count, std::int32_t step,
                           float* output, float scale, std::int32_t zero_point) {
  const float32x4_t factor = vdupq_n_f32(scale);
  const auto floats = [=](int32x4_t values) {
    return vmulq_f32(vcvtq_f32_s32(vsubq_n_s32(values, zero_point)), factor);
  };
  if (step == 1) {
    for_fours(count, [=](std::int32_t i, auto... lanes) {
      store_four(output + i, floats(load_four(input + i, lanes...)), lanes...);
    });
    return;
  }
  const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<std::uint32_t>(step));
  for_fours(count, [=](std::int32_t i, auto... lanes) {
    const int32x4_t values = gather_four(input + i * step, places, lanes...);
    store_four(output + i, floats(values), lanes...);
  });
}
#endif

template <typename Element, typename Args>
void dequantize_elements(const Args& a, const Bases& bases, std::int32_t zero_point) {
  // Copies, because the compiler has to think that stores of floats change arguments.
  const std::int32_t channels = a.channels;
  const std::int32_t pixels = a.pixels;
  const float scale = a.scale;
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<float>(a.output);

#if CMSIS_NN_DELEGATE_FLOAT_VECTORS
  if (pixels >= 4 && vectors_dequantize(scale)) {
    for (std::int32_t n = 0; n < a.batch; ++n) {
      for (std::int32_t channel = 0; channel < channels; ++channel) {
        dequantize_run(input + channel, pixels, channels, output, scale, zero_point);
        output += pixels;
      }
      input += channels * pixels;
    }
    return;
  }
#endif
  for (std::int32_t n = 0; n < a.batch; ++n) {
    std::int32_t first = 0;
#if CMSIS_NN_DELEGATE_FLOAT_WORDS
    if constexpr (sizeof(Element) == 1) {
      const ByteFloats floats = {scale, -zero_point};
      if (channels == 1) {
        dequantize_bytes(input, pixels, floats, output);
        input += pixels;
        output += pixels;
        continue;
      }
      for (; first + 4 <= channels; first += 4, output += 4 * pixels) {
        dequantize_four_channels(input + first, pixels, channels, floats, output);
      }
    }
#endif
    for (std::int32_t channel = first; channel < channels; ++channel) {
      const Element* in = input + channel;
      for (float* const end = output + pixels; output != end; in += channels) {
        *output++ = static_cast<float>(*in - zero_point) * scale;
      }
    }
    input += channels * pixels;
  }
}

}  // namespace cmsis_nn_delegate::portable
