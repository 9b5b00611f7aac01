// The maximum or minimum over the middle one of three dimensions.
#pragma once

#include <cstring>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// `better(a, b)` says that `a` replaces `b`.
template <typename Element, typename Args, typename Better>
void reduce_extremum(const Args& a, const Bases& bases, Better better) {
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    std::memcpy(output, input, static_cast<std::size_t>(a.inner) * sizeof(Element));
    input += a.inner;
    for (std::int32_t i = 1; i < a.axis; ++i) {
      for (std::int32_t inner = 0; inner < a.inner; ++inner) {
        output[inner] = better(input[inner], output[inner]) ? input[inner] : output[inner];
      }
      input += a.inner;
    }
    output += a.inner;
  }
}

}  // namespace cmsis_nn_delegate::portable
