// The inner loop of matrix_vectors_int16.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/batch_matmul/matrix_vectors_int16.h"
#include "runtime/kernels/batch_matmul/matrix_vectors_int16_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_multiply_matrix_vectors_int16(const portable::MatrixVectorsInt16* vectors);
}

struct MveMatrixVectorsInt16 {
  static void multiply(const portable::MatrixVectorsInt16& vectors) {
    cmsis_nn_delegate_multiply_matrix_vectors_int16(&vectors);
  }
};

}  // namespace cmsis_nn_delegate::tuned
