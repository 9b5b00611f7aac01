// Averages of windows that need not be alike, for elements of any type.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/average.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

/// The positions [begin, end) of one axis that window `index` of `count` averages: at least one.
struct Span {
  std::int32_t begin;
  std::int32_t end;

  static Span of(std::int32_t index, std::int32_t size, std::int32_t count) {
    return {index * size / count, ((index + 1) * size + count - 1) / count};
  }
};

template <typename Element, typename Args>
inline void average_adaptively(const Args& a, const Bases& bases) {
  const payload::Dims& in = a.input_dims;
  const payload::Dims& out = a.output_dims;
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  for (std::int32_t n = 0; n < out.n; ++n) {
    for (std::int32_t y = 0; y < out.h; ++y) {
      const Span rows = Span::of(y, in.h, out.h);
      for (std::int32_t x = 0; x < out.w; ++x) {
        const Span columns = Span::of(x, in.w, out.w);
        average(input + (rows.begin * in.w + columns.begin) * in.c, rows.end - rows.begin,
                columns.end - columns.begin, in.w * in.c, in.c, a.activation, output);
        output += in.c;
      }
    }
    input += in.h * in.w * in.c;
  }
}

}  // namespace cmsis_nn_delegate::portable
