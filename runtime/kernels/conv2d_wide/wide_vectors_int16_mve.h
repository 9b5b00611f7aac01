// The inner loop of wide_vectors.h in assembly, for MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/vector_products_mve.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_multiply_wide_vectors_int16(
    const portable::VectorProductsOf<std::int16_t>* products);
}

struct MveWideVectorProductsInt16 : MveColumns {
  using Element = std::int16_t;

  static void multiply(const portable::VectorProductsOf<Element>& products) {
    cmsis_nn_delegate_multiply_wide_vectors_int16(&products);
  }
};

}  // namespace cmsis_nn_delegate::tuned
