// Transposed convolutions of any geometry, by looking up for each output pixel what adds to it.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// How many output channels are summed at once; their sums stay on the stack.
inline constexpr std::int32_t kTransposedBlock = 16;

/// The pixel of an axis that adds to output `out` with tap `tap`; -1 if there is none.
inline std::int32_t transposed_source(std::int32_t out, std::int32_t tap, std::int32_t stride,
                                      std::int32_t padding, std::int32_t dilation,
                                      std::int32_t size) {
  const std::int32_t distance = out + padding - tap * dilation;
  if (distance < 0 || distance % stride != 0) {
    return -1;
  }
  const std::int32_t pixel = distance / stride;
  return pixel < size ? pixel : -1;
}

/// Computes one call; `Args` is the argument block of a kernel for activations of type Element.
template <typename Args, typename Element = std::int8_t>
Error run_transposed(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  const auto& p = a.params;
  const payload::Dims& in = a.input_dims;
  const payload::Dims& filter = a.filter_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const Element>(a.input);
  const auto* weights = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  auto* output = bases.resolve<Element>(a.output);

  std::int32_t input_offset = 0;
  std::int32_t output_offset = 0;
  if constexpr (sizeof(Element) == 1) {
    input_offset = p.input_offset;
    output_offset = p.output_offset;
  }
  const std::int32_t channels_per_group = out.c / (in.c / filter.c);
  const std::int32_t filter_bytes = filter.h * filter.w * filter.c;

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      for (std::int32_t x = 0; x < out.w; ++x) {
        std::int32_t channel = 0;
        while (channel < out.c) {
          // Channels of one group, as they read the same pixels.
          const std::int32_t group = channel / channels_per_group;
          const std::int32_t left = (group + 1) * channels_per_group - channel;
          const std::int32_t count = left < kTransposedBlock ? left : kTransposedBlock;
          std::uint32_t acc[kTransposedBlock];
          for (std::int32_t i = 0; i < count; ++i) {
            acc[i] = static_cast<std::uint32_t>(bias[channel + i]);
          }
          for (std::int32_t ky = 0; ky < filter.h; ++ky) {
            const std::int32_t row =
                transposed_source(y, ky, p.stride.h, p.padding.h, p.dilation.h, in.h);
            if (row < 0) {
              continue;
            }
            for (std::int32_t kx = 0; kx < filter.w; ++kx) {
              const std::int32_t column =
                  transposed_source(x, kx, p.stride.w, p.padding.w, p.dilation.w, in.w);
              if (column < 0) {
                continue;
              }
              const Element* v = input + (row * in.w + column) * in.c + group * filter.c;
              const std::int8_t* w =
                  weights + channel * filter_bytes + (ky * filter.w + kx) * filter.c;
              for (std::int32_t i = 0; i < count; ++i, w += filter_bytes) {
                for (std::int32_t c = 0; c < filter.c; ++c) {
                  acc[i] += static_cast<std::uint32_t>(w[c] * (v[c] + input_offset));
                }
              }
            }
          }
          for (std::int32_t i = 0; i < count; ++i, ++channel) {
            const std::int32_t value =
                requantize(static_cast<std::int32_t>(acc[i]), multiplier[channel], shift[channel]);
            *output++ = clamp_to<Element>(wrapping_add(value, output_offset), p.activation);
          }
        }
      }
    }
    input += in.h * in.w * in.c;
  }
  return Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
