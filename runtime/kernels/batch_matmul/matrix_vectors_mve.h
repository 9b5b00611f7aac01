// The inner loops of matrix_vectors.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/batch_matmul/matrix_vectors.h"
#include "runtime/kernels/batch_matmul/matrix_vectors_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_pack_matrix_columns(const portable::MatrixColumns* columns);
void cmsis_nn_delegate_multiply_matrix_vectors(const portable::MatrixVectors* vectors);
}

struct MveMatrixVectors {
  static void pack(const portable::MatrixColumns& columns) {
    cmsis_nn_delegate_pack_matrix_columns(&columns);
  }
  static void multiply(const portable::MatrixVectors& vectors) {
    cmsis_nn_delegate_multiply_matrix_vectors(&vectors);
  }
};

}  // namespace cmsis_nn_delegate::tuned
