// Convolutions of int16, of any geometry and size.
#pragma once

#include <cstdint>
#include <type_traits>

#include <executorch/runtime/core/error.h>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/window.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

/// Computes one call; `Args` is the argument block of a kernel. Sums have the type of its biases.
template <typename Args, typename Sum = std::int32_t>
executorch::runtime::Error run_convolution_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  const auto& p = a.params;
  const payload::Dims& in = a.input_dims;
  const payload::Dims& filter = a.filter_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const std::int16_t>(a.input);
  const auto* weights = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const Sum>(a.bias);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  auto* output = bases.resolve<std::int16_t>(a.output);

  const std::int32_t channels_per_group = out.c / (in.c / filter.c);
  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Taps ty = Taps::of(y, p.stride.h, p.padding.h, p.dilation.h, filter.h, in.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Taps tx = Taps::of(x, p.stride.w, p.padding.w, p.dilation.w, filter.w, in.w);
        const std::int8_t* kernel = weights;
        for (std::int32_t channel = 0; channel < out.c; ++channel) {
          const std::int32_t first = channel / channels_per_group * filter.c;
          auto acc = static_cast<std::make_unsigned_t<Sum>>(bias[channel]);
          for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
            for (std::int32_t kx = tx.begin; kx < tx.end; ++kx) {
              const std::int16_t* v =
                  input +
                  ((ty.origin + ky * p.dilation.h) * in.w + tx.origin + kx * p.dilation.w) * in.c +
                  first;
              const std::int8_t* w = kernel + (ky * filter.w + kx) * filter.c;
              for (std::int32_t i = 0; i < filter.c; ++i) {
                acc += static_cast<std::make_unsigned_t<Sum>>(w[i] * v[i]);
              }
            }
          }
          std::int32_t value;
          if constexpr (sizeof(Sum) == 8) {
            value = requantize_long(static_cast<Sum>(acc), multiplier[channel], shift[channel]);
          } else {
            value = requantize(static_cast<Sum>(acc), multiplier[channel], shift[channel]);
          }
          *output++ = clamp_to<std::int16_t>(value, p.activation);
          kernel += filter.h * filter.w * filter.c;
        }
      }
    }
    input += in.h * in.w * in.c;
  }
  return executorch::runtime::Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
