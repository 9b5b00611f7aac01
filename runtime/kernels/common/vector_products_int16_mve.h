// The inner loops of vector_products.h for inputs of int16 in assembly, for MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/vector_products.h"
#include "runtime/kernels/common/vector_products_mve.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_multiply_vectors_int16(
    const portable::VectorProductsOf<std::int16_t>* products);
void cmsis_nn_delegate_multiply_nibble_vectors_int16(
    const portable::VectorProductsOf<std::int16_t>* products);
}

struct MveVectorProductsInt16 : MveColumns {
  using Element = std::int16_t;

  static void multiply(const portable::VectorProductsOf<Element>& products) {
    cmsis_nn_delegate_multiply_vectors_int16(&products);
  }
};

struct MveNibbleVectorProductsInt16 : MveVectorProductsInt16 {
  static void multiply(const portable::VectorProductsOf<Element>& products) {
    cmsis_nn_delegate_multiply_nibble_vectors_int16(&products);
  }
};

}  // namespace cmsis_nn_delegate::tuned
