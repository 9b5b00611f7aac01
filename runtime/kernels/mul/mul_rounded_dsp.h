// Elementwise products in assembly for cores with DSP.
#pragma once

#include "runtime/kernels/mul/mul_rounded.h"
#include "runtime/kernels/mul/mul_rounded_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" void cmsis_nn_delegate_mul_rounded_dsp(const std::int8_t* a, const std::int8_t* b,
                                                  std::int8_t* output, std::int32_t words,
                                                  const portable::RoundedProduct* p);

extern "C" void cmsis_nn_delegate_mul_rounded_rows_dsp(const std::int8_t* a, const std::int8_t* row,
                                                       std::int8_t* output, std::int32_t columns,
                                                       std::int32_t rows,
                                                       const portable::RoundedProduct* p);

struct DspProducts {
  static constexpr std::int32_t kAtATime = 4;
  static constexpr std::int32_t kColumns = 4;

  static void multiply(const std::int8_t* a, const std::int8_t* b, std::int8_t* output,
                       std::int32_t count, const portable::RoundedProduct& p) {
    cmsis_nn_delegate_mul_rounded_dsp(a, b, output, count / kAtATime, &p);
  }

  static void multiply_rows(const std::int8_t* a, const std::int8_t* row, std::int8_t* output,
                            std::int32_t columns, std::int32_t rows,
                            const portable::RoundedProduct& p) {
    cmsis_nn_delegate_mul_rounded_rows_dsp(a, row, output, columns, rows, &p);
  }
};

}  // namespace cmsis_nn_delegate::tuned
