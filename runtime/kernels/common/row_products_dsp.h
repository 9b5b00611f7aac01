// The inner loop of row_products.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include "runtime/kernels/common/row_products.h"
#include "runtime/kernels/common/row_products_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_multiply_row(portable::RowProducts* products);
void cmsis_nn_delegate_multiply_joint_row(portable::RowProducts* products);
void cmsis_nn_delegate_multiply_nibble_row(portable::RowProducts* products);
}

struct DspRowProducts {
  using Element = std::int8_t;

  static void multiply(portable::RowProducts& products) {
    cmsis_nn_delegate_multiply_row(&products);
  }
};

struct DspJointRowProducts {
  using Element = std::int8_t;

  static void multiply(portable::RowProducts& products) {
    cmsis_nn_delegate_multiply_joint_row(&products);
  }
};

struct DspNibbleRowProducts {
  using Element = std::int8_t;

  static void multiply(portable::RowProducts& products) {
    cmsis_nn_delegate_multiply_nibble_row(&products);
  }
};

}  // namespace cmsis_nn_delegate::tuned
