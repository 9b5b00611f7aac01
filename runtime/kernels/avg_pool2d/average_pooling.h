// The mean of the pixels of each window, for the kernels of average pooling.
#pragma once

#include "runtime/kernels/common/average.h"
#include "runtime/kernels/common/window.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

/// Computes one call; `Args` is the argument block of a kernel for elements of type Element.
template <typename Element, typename Args>
void pool_averages(const Args& a, const Bases& bases) {
  const auto& p = a.params;
  const payload::Dims& in = a.input_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Taps ty = Taps::of(y, p.stride.h, p.padding.h, 1, a.filter_dims.h, in.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Taps tx = Taps::of(x, p.stride.w, p.padding.w, 1, a.filter_dims.w, in.w);
        average(input + ((ty.origin + ty.begin) * in.w + tx.origin + tx.begin) * in.c,
                ty.end - ty.begin, tx.end - tx.begin, in.w * in.c, in.c, p.activation, output);
        output += in.c;
      }
    }
    input += in.h * in.w * in.c;
  }
}

}  // namespace cmsis_nn_delegate::portable
