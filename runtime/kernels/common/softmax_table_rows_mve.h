// The functions for rows of a softmax that an image has.
#pragma once

#include "runtime/kernels/common/softmax_table_rows.h"
#include "runtime/kernels/common/softmax_table_rows_members.h"
#include "runtime/kernels/tuned/inner_loops.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
std::int32_t cmsis_nn_delegate_softmax_most(const std::int8_t* input, std::int32_t size);
std::int32_t cmsis_nn_delegate_softmax_sum(const portable::SoftmaxRow* row);
void cmsis_nn_delegate_softmax_write(const portable::SoftmaxRow* row);
}

struct MveSoftmaxRows {
  static std::int32_t most(const std::int8_t* input, std::int32_t size) {
    return cmsis_nn_delegate_softmax_most(input, size);
  }

  static std::int32_t sum(const portable::SoftmaxRow& row) {
    return cmsis_nn_delegate_softmax_sum(&row);
  }

  static void write(const portable::SoftmaxRow& row) { cmsis_nn_delegate_softmax_write(&row); }
};

using SoftmaxRows = MveOr<MveSoftmaxRows, portable::PlainSoftmaxRows>;

}  // namespace cmsis_nn_delegate::tuned
