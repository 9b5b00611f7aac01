// The inner loops of matrix_pairs.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/batch_matmul/matrix_pairs.h"
#include "runtime/kernels/batch_matmul/matrix_pairs_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_widen_two_rows(const std::int8_t* rows, std::int32_t step, std::int32_t* out,
                                      std::int32_t words, std::int32_t offsets);
void cmsis_nn_delegate_widen_four_rows(const std::int8_t* rows, std::int32_t step,
                                       std::int32_t* out, std::int32_t words, std::int32_t offsets);
void cmsis_nn_delegate_multiply_matrix_pairs(const portable::MatrixPairs* pairs);
}

struct DspMatrixPairs {
  static void widen_two(const std::int8_t* rows, std::int32_t step, std::int32_t* out,
                        std::int32_t words, std::int32_t offset) {
    cmsis_nn_delegate_widen_two_rows(rows, step, out, words,
                                     portable::matrix_pairs::pair(offset, offset));
  }
  static void widen_four(const std::int8_t* rows, std::int32_t step, std::int32_t* out,
                         std::int32_t words, std::int32_t offset) {
    cmsis_nn_delegate_widen_four_rows(rows, step, out, words,
                                      portable::matrix_pairs::pair(offset, offset));
  }
  static void multiply(const portable::MatrixPairs& pairs) {
    cmsis_nn_delegate_multiply_matrix_pairs(&pairs);
  }
};

}  // namespace cmsis_nn_delegate::tuned
