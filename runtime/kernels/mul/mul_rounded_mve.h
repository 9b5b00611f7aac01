// Elementwise products in assembly for cores with MVE.
#pragma once

#include "runtime/kernels/mul/mul_rounded.h"
#include "runtime/kernels/mul/mul_rounded_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" void cmsis_nn_delegate_mul_rounded_rows_mve(const std::int8_t* a, const std::int8_t* row,
                                                       std::int8_t* output, std::int32_t columns,
                                                       std::int32_t rows, std::int32_t stride,
                                                       const portable::RoundedProduct* p);

extern "C" void cmsis_nn_delegate_mul_rounded_columns_mve(const std::int8_t* a,
                                                          const std::int8_t* row,
                                                          std::int8_t* output, std::int32_t columns,
                                                          std::int32_t rows,
                                                          const portable::RoundedProduct* p);

struct MveProducts {
  static constexpr std::int32_t kAtATime = 1;
  static constexpr std::int32_t kColumns = 16;

  static void multiply(const std::int8_t* a, const std::int8_t* b, std::int8_t* output,
                       std::int32_t count, const portable::RoundedProduct& p) {
    cmsis_nn_delegate_mul_rounded_rows_mve(a, b, output, count, 1, count, &p);
  }

  static void multiply_rows(const std::int8_t* a, const std::int8_t* row, std::int8_t* output,
                            std::int32_t columns, std::int32_t rows,
                            const portable::RoundedProduct& p) {
    const std::int32_t done = columns & -kColumns;
    if (done != 0) {
      cmsis_nn_delegate_mul_rounded_columns_mve(a, row, output, columns, rows, &p);
    }
    if (done != columns) {
      cmsis_nn_delegate_mul_rounded_rows_mve(a + done, row + done, output + done, columns - done,
                                             rows, columns, &p);
    }
  }
};

}  // namespace cmsis_nn_delegate::tuned
