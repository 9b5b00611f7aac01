// The maximum of the pixels of each window, for the kernels of maximum pooling.
#pragma once

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/window.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// A window that sees no pixel gives the lower limit.
template <typename Element, typename Args>
inline void pool_maxima(const Args& a, const payload::Tile& dilation, const Bases& bases) {
  const auto& p = a.params;
  const payload::Dims& in = a.input_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Taps ty = Taps::of(y, p.stride.h, p.padding.h, dilation.h, a.filter_dims.h, in.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Taps tx = Taps::of(x, p.stride.w, p.padding.w, dilation.w, a.filter_dims.w, in.w);
        // Starting from the lower limit leaves only the upper one to apply.
        for (std::int32_t i = 0; i < in.c; ++i) {
          output[i] = static_cast<Element>(p.activation.min);
        }
        for (std::int32_t ky = ty.begin; ky < ty.end; ++ky) {
          const std::int32_t row = (ty.origin + ky * dilation.h) * in.w + tx.origin;
          for (std::int32_t kx = tx.begin; kx < tx.end; ++kx) {
            const Element* v = input + (row + kx * dilation.w) * in.c;
            for (std::int32_t i = 0; i < in.c; ++i) {
              output[i] = v[i] > output[i] ? v[i] : output[i];
            }
          }
        }
        for (std::int32_t i = 0; i < in.c; ++i) {
          output[i] = clamp_to<Element>(output[i], p.activation);
        }
        output += in.c;
      }
    }
    input += in.h * in.w * in.c;
  }
}

}  // namespace cmsis_nn_delegate::portable
