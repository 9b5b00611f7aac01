// Nearest-neighbour resampling, for elements of any type.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/copy_bytes.h"
#include "runtime/kernels/common/resize.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

template <typename Element, typename Args>
inline void resize_nearest(const Args& a, const Bases& bases) {
  const payload::Dims& in = a.input_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Element* row = input + place_of<0>(y, a.rows, in.h) * in.w * in.c;
      for (std::int32_t x = 0; x < out.w; ++x) {
        copy_bytes(row + place_of<0>(x, a.columns, in.w) * in.c, output,
                   in.c * static_cast<std::int32_t>(sizeof(Element)));
        output += in.c;
      }
    }
    input += in.h * in.w * in.c;
  }
}

}  // namespace cmsis_nn_delegate::portable
