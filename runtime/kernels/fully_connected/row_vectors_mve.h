// The inner loop of row_vectors.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/fully_connected/row_vectors.h"
#include "runtime/kernels/fully_connected/row_vectors_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_row_vectors(const portable::RowVectors<std::int8_t>* row);
void cmsis_nn_delegate_row_vectors_int16(const portable::RowVectors<std::int16_t>* row);
void cmsis_nn_delegate_nibble_row_vectors(const portable::RowVectors<std::int8_t>* row);
void cmsis_nn_delegate_nibble_row_vectors_int16(const portable::RowVectors<std::int16_t>* row);
}

struct MveRowVectors {
  static void multiply(const portable::RowVectors<std::int8_t>& row) {
    cmsis_nn_delegate_row_vectors(&row);
  }
  static void multiply(const portable::RowVectors<std::int16_t>& row) {
    cmsis_nn_delegate_row_vectors_int16(&row);
  }
};

struct MveNibbleRowVectors {
  static void multiply(const portable::RowVectors<std::int8_t>& row) {
    cmsis_nn_delegate_nibble_row_vectors(&row);
  }
  static void multiply(const portable::RowVectors<std::int16_t>& row) {
    cmsis_nn_delegate_nibble_row_vectors_int16(&row);
  }
};

}  // namespace cmsis_nn_delegate::tuned
