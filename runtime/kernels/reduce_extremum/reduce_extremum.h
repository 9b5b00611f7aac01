// The maximum or minimum over the middle one of three dimensions.
#pragma once

#include <cstdint>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// `better(a, b)` says that `a` replaces `b`.
template <typename Element, typename Args, typename Better>
void reduce_extremum(const Args& a, const Bases& bases, Better better) {
  // Copies, because the compiler has to think that stores of bytes change arguments.
  const std::int32_t inner_size = a.inner;
  const std::int32_t axis_size = a.axis;
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    for (std::int32_t inner = 0; inner < inner_size; ++inner) {
      const Element* element = input + inner;
      std::int32_t best = *element;
      for (std::int32_t i = 1; i < axis_size; ++i) {
        element += inner_size;
        best = better(*element, best) ? *element : best;
      }
      *output++ = static_cast<Element>(best);
    }
    input += axis_size * inner_size;
  }
}

}  // namespace cmsis_nn_delegate::portable
