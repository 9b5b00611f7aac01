// Convolutions of any geometry and size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/window.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Adds sum(filter * (input + offset)) over `count` contiguous elements to `acc`.
inline std::uint32_t dot(std::uint32_t acc, const std::int8_t* filter, const std::int8_t* input,
                         std::int32_t offset, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    acc += static_cast<std::uint32_t>(filter[i] * (input[i] + offset));
  }
  return acc;
}

/// Computes one call; `Args` is the argument block of a kernel.
template <typename Args>
Error run_convolution(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  const auto& p = a.params;
  const auto& in = a.input_dims;
  const auto& filter = a.filter_dims;
  const auto& out = a.output_dims;
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* weights = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  auto* output = bases.resolve<std::int8_t>(a.output);

  const std::int32_t groups = in.c / filter.c;
  const std::int32_t channels_per_group = out.c / groups;
  const std::int32_t filter_row = filter.w * filter.c;
  const std::int32_t filter_bytes = filter.h * filter_row;
  // If so, the taps of a row are contiguous in the input, as they are in the filter.
  const bool contiguous = p.dilation.w == 1 && groups == 1;

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Taps ty = Taps::of(y, p.stride.h, p.padding.h, p.dilation.h, filter.h, in.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Taps tx = Taps::of(x, p.stride.w, p.padding.w, p.dilation.w, filter.w, in.w);
        const std::int8_t* kernel = weights;
        std::int32_t channel = 0;
        for (std::int32_t group = 0; group < groups; ++group) {
          for (std::int32_t i = 0; i < channels_per_group; ++i, ++channel) {
            auto acc = static_cast<std::uint32_t>(bias[channel]);
            for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
              const std::int8_t* in_row =
                  input + (ty.origin + ky * p.dilation.h) * in.w * in.c + group * filter.c;
              const std::int8_t* kernel_row = kernel + ky * filter_row;
              if (contiguous) {
                acc = dot(acc, kernel_row + tx.begin * filter.c,
                          in_row + (tx.origin + tx.begin) * in.c, p.input_offset,
                          (tx.end - tx.begin) * filter.c);
                continue;
              }
              for (std::int32_t kx = tx.begin; kx < tx.end; ++kx) {
                acc =
                    dot(acc, kernel_row + kx * filter.c,
                        in_row + (tx.origin + kx * p.dilation.w) * in.c, p.input_offset, filter.c);
              }
            }
            const std::int32_t value =
                requantize(static_cast<std::int32_t>(acc), multiplier[channel], shift[channel]);
            *output++ = clamp(wrapping_add(value, p.output_offset), p.activation);
            kernel += filter_bytes;
          }
        }
      }
    }
    input += in.h * in.w * in.c;
  }
  return Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
