// Convolutions of int16, of any geometry and size.
#pragma once

#include <cstdint>
#include <type_traits>

#include <executorch/runtime/core/error.h>

#include "runtime/kernels/common/nibbles.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/window.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

/// The weights of a filter in int8: adds the products of `count` of them, from weight `first` on, with `input` to `sum`.
struct ByteWeights {
  template <typename Sum>
  static Sum add(Sum sum, const std::int8_t* weights, std::uint32_t first,
                 const std::int16_t* input, std::int32_t count) {
    for (std::int32_t i = 0; i < count; ++i) {
      sum += static_cast<Sum>(weights[first + static_cast<std::uint32_t>(i)] * input[i]);
    }
    return sum;
  }
};

/// The same in 4 bits.
struct NibbleWeights {
  static std::uint32_t add(std::uint32_t sum, const std::int8_t* weights, std::uint32_t first,
                           const std::int16_t* input, std::int32_t count) {
    return add_nibble_products(sum, weights, first, input, /*offset=*/0, count);
  }
};

/// Computes one call; `Args` is the argument block of a kernel. Sums have the type of its biases.
template <typename Args, typename Sum = std::int32_t, typename Weights = ByteWeights>
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
        std::int32_t filter_at = 0;  // its first weight
        for (std::int32_t channel = 0; channel < out.c; ++channel) {
          const std::int32_t first = channel / channels_per_group * filter.c;
          auto acc = static_cast<std::make_unsigned_t<Sum>>(bias[channel]);
          for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
            for (std::int32_t kx = tx.begin; kx < tx.end; ++kx) {
              const std::int16_t* v =
                  input +
                  ((ty.origin + ky * p.dilation.h) * in.w + tx.origin + kx * p.dilation.w) * in.c +
                  first;
              const std::int32_t at = filter_at + (ky * filter.w + kx) * filter.c;
              acc = Weights::add(acc, weights, static_cast<std::uint32_t>(at), v, filter.c);
            }
          }
          std::int32_t value;
          if constexpr (sizeof(Sum) == 8) {
            value = requantize_long(static_cast<Sum>(acc), multiplier[channel], shift[channel]);
          } else {
            value = requantize(static_cast<Sum>(acc), multiplier[channel], shift[channel]);
          }
          *output++ = clamp_to<std::int16_t>(value, p.activation);
          filter_at += filter.h * filter.w * filter.c;
        }
      }
    }
    input += in.h * in.w * in.c;
  }
  return executorch::runtime::Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
