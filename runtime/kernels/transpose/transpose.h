// Changes of the memory order of elements of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

/// Computes one call; `Args` is the argument block of a kernel for elements of type Element.
template <typename Element, typename Args>
void transpose_elements(const Args& a, const Bases& bases) {
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

  if (a.rows == 1 || a.columns == 1) {  // the order stays
    std::memcpy(output, input,
                static_cast<std::size_t>(a.batch * a.rows * a.columns) * sizeof(Element));
    return;
  }
  for (std::int32_t n = 0; n < a.batch; ++n) {
    for (std::int32_t column = 0; column < a.columns; ++column) {
      const Element* in = input + column;
      for (std::int32_t row = 0; row < a.rows; ++row) {
        *output++ = *in;
        in += a.columns;
      }
    }
    input += a.rows * a.columns;
  }
}

}  // namespace cmsis_nn_delegate::portable
