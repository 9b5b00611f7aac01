// The inner loop of row_products_int16.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include "runtime/kernels/common/row_products_int16.h"
#include "runtime/kernels/common/row_products_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_multiply_row_int16(portable::RowProductsInt16* products);
void cmsis_nn_delegate_multiply_nibble_row_int16(portable::RowProductsInt16* products);
}

struct DspRowProductsInt16 {
  using Element = std::int16_t;

  static void multiply(portable::RowProductsInt16& products) {
    cmsis_nn_delegate_multiply_row_int16(&products);
  }
};

struct DspNibbleRowProductsInt16 {
  using Element = std::int16_t;

  static void multiply(portable::RowProductsInt16& products) {
    cmsis_nn_delegate_multiply_nibble_row_int16(&products);
  }
};

}  // namespace cmsis_nn_delegate::tuned
