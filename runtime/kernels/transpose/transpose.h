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
  constexpr std::int32_t kAtATime = 4;  // rows, so that a column's elements share what a loop takes
  const std::int32_t rows = a.rows;
  const std::int32_t columns = a.columns;
  for (std::int32_t n = 0; n < a.batch; ++n) {
    std::int32_t row = 0;
    for (; row + kAtATime <= rows; row += kAtATime) {
      const Element* row0 = input + row * columns;
      const Element* row1 = row0 + columns;
      const Element* row2 = row1 + columns;
      const Element* row3 = row2 + columns;
      Element* out = output + row;
      for (std::int32_t left = columns;;) {
        out[0] = *row0++;
        out[1] = *row1++;
        out[2] = *row2++;
        out[3] = *row3++;
        if (--left == 0) {
          break;
        }
        out += rows;  // never beyond the tensor
      }
    }
    for (; row < rows; ++row) {
      const Element* in = input + row * columns;
      Element* out = output + row;
      for (std::int32_t left = columns;;) {
        *out = *in++;
        if (--left == 0) {
          break;
        }
        out += rows;
      }
    }
    input += rows * columns;
    output += rows * columns;
  }
}

}  // namespace cmsis_nn_delegate::portable
