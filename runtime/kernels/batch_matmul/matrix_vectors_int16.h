// What the product of matrices of int16 does in its inner loops, in plain C++. Assembly for an instruction set has the same
// function (matrix_vectors_int16_mve.h).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"

namespace cmsis_nn_delegate::portable {

/// The products of two rows of the first input with all columns, which are the rows of the second one, two at a time. A result
/// is (sum * multiplier + half) / 2^shift, rounded down, of at most 31 bits before it is limited, as the compiler proves. Steps are in bytes.
struct MatrixVectorsInt16 {
  const std::int16_t* row;
  std::int32_t row_step;       // to the second one; 0 if it is the same
  const std::int16_t* column;  // the first one
  std::int32_t column_step;    // to the next one
  std::int32_t second_step;  // to the second one of two: column_step; 0 if there is a single column
  std::int32_t columns;      // >= 1
  std::int32_t row_size;     // elements, >= 1
  std::int16_t* output;
  // From the results of the first to those of the second row; 0 if they are the same.
  std::int32_t output_step;
  std::int32_t multiplier;  // of 15 bits
  std::int32_t shift;       // 1 to 46
  std::int32_t half[2];     // half of 2^shift, the lower word first
  std::int32_t least;
  std::int32_t most;
};

/// The function for plain C++.
struct PlainMatrixVectorsInt16 {
  static void multiply(const MatrixVectorsInt16& p) {
    const payload::Activation activation = {p.least, p.most};
    const std::uint64_t half = static_cast<std::uint64_t>(static_cast<std::uint32_t>(p.half[1]))
                                   << 32 |
                               static_cast<std::uint32_t>(p.half[0]);
    for (std::int32_t i = 0; i < 2; ++i) {
      const std::int16_t* row = p.row + i * p.row_step / 2;
      const std::int16_t* column = p.column;
      for (std::int32_t j = 0; j < p.columns; ++j, column += p.column_step / 2) {
        std::int64_t sum = 0;
        for (std::int32_t k = 0; k < p.row_size; ++k) {
          sum += row[k] * column[k];
        }
        const std::uint64_t product =
            static_cast<std::uint64_t>(sum) * static_cast<std::uint32_t>(p.multiplier) + half;
        p.output[i * p.output_step / 2 + j] = clamp_to<std::int16_t>(
            static_cast<std::int32_t>(static_cast<std::int64_t>(product) >> p.shift), activation);
      }
    }
  }
};

}  // namespace cmsis_nn_delegate::portable
