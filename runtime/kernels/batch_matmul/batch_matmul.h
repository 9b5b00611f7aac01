// Products of the rows of two batches of matrices, for elements of any type.
#pragma once

#include <cstdint>

#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

/// The first row of matrix [n][h] of a batch; an axis of size 1 has the same matrix for every n or h.
template <typename Element>
inline const Element* matrix(const Element* data, const payload::Dims& dims, std::int32_t n,
                             std::int32_t h) {
  const std::int32_t index = (dims.n == 1 ? 0 : n) * dims.h + (dims.h == 1 ? 0 : h);
  return data + index * dims.w * dims.c;
}

/// `product` returns the element of the output for two rows.
template <typename Element, typename Args, typename Product>
inline void multiply_matrices(const Args& a, const Bases& bases, Product product) {
  const auto* input1 = bases.resolve<const Element>(a.input1);
  const auto* input2 = bases.resolve<const Element>(a.input2);
  auto* output = bases.resolve<Element>(a.output);
  const std::int32_t row_size = a.input1_dims.c;

  for (std::int32_t n = 0; n < a.output_dims.n; ++n) {
    for (std::int32_t h = 0; h < a.output_dims.h; ++h) {
      const Element* row1 = matrix(input1, a.input1_dims, n, h);
      for (std::int32_t i = 0; i < a.output_dims.w; ++i) {
        const Element* row2 = matrix(input2, a.input2_dims, n, h);
        for (std::int32_t j = 0; j < a.output_dims.c; ++j) {
          *output++ = product(row1, row2);
          row2 += row_size;
        }
        row1 += row_size;
      }
    }
  }
}

/// How many rows of input2 a tuned kernel packs at a time, in fours, if it does so in a.passes.
template <typename Args>
inline std::int32_t rows_of_a_pass(const Args& a) {
  const std::int32_t fours = (a.output_dims.c + 3) / 4;
  return (fours + a.passes - 1) / a.passes * 4;
}

}  // namespace cmsis_nn_delegate::portable
