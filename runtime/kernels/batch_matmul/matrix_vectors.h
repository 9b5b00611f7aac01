// What the product of matrices that multiplies vectors of elements does in its inner loops, in plain C++. Assembly for
// an instruction set has the same functions (matrix_vectors_mve.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/requantize.h"

namespace cmsis_nn_delegate::portable {

/// Rows of the second input, which become a table. It has for each 4 rows, of which the last ones may not be there: 16
/// elements of each, vector by vector; the first vector has fewer where rows are no multiple of 16, and then zeros.
/// Behind them come their four sums, times the offset of the first input, and with `start` added.
struct MatrixColumns {
  const std::int8_t* rows;
  std::int8_t* table;      // 16-byte aligned
  std::int32_t columns;    // rows, >= 1
  std::int32_t first;      // elements of the first vector of a row, 1 to 16
  std::int32_t vectors;    // behind it, >= 0
  std::int32_t offset;     // of the first input
  std::int32_t start;      // the product of both offsets and the size of a row
  std::int32_t row_bytes;  // in the table for each row: 16 for each vector, and 4
};

/// The products of two rows of the first input with all columns of a table.
struct MatrixVectors {
  const std::int8_t* rows;
  std::int32_t step;   // from the first to the second one; 0 if it is the same
  std::int32_t first;  // as above
  std::int32_t vectors;
  const std::int8_t* table;
  std::int8_t* output;
  std::int32_t columns;
  std::int32_t
      output_step;  // from the results of the first to those of the second row; 0 if they are the same
  std::int32_t offset;      // of the second input
  std::int32_t multiplier;  // Q31
  std::int32_t shift;       // to the right, so less than 0
  std::int32_t zero_point;  // of the output
  std::int32_t least;
  std::int32_t most;
};

namespace matrix_vectors {

inline constexpr std::int32_t kVector = 16;  // elements
inline constexpr std::int32_t kRows = 2;
inline constexpr std::int32_t kColumns = 4;
inline constexpr std::int32_t kStartBytes = 4;  // of a column

/// The sum of a row, modulo 2^32.
inline std::uint32_t sum(const std::int8_t* row, std::int32_t count) {
  std::uint32_t total = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    total += static_cast<std::uint32_t>(row[i]);
  }
  return total;
}

}  // namespace matrix_vectors

/// The functions for plain C++.
struct PlainMatrixVectors {
  static void pack(const MatrixColumns& p) {
    using namespace matrix_vectors;
    const std::int32_t elements = p.first + p.vectors * kVector;
    const std::int8_t* row = p.rows;
    for (std::int32_t column = 0; column < p.columns; ++column, row += elements) {
      std::int8_t* const block = p.table + column / kColumns * kColumns * p.row_bytes;
      std::int8_t* to = block + column % kColumns * kVector;
      std::memset(to, 0, kVector);
      std::memcpy(to, row, static_cast<std::size_t>(p.first));
      for (std::int32_t i = 0; i < p.vectors; ++i) {
        to += kColumns * kVector;
        std::memcpy(to, row + p.first + i * kVector, kVector);
      }
      const std::uint32_t start = static_cast<std::uint32_t>(p.start) +
                                  sum(row, elements) * static_cast<std::uint32_t>(p.offset);
      std::memcpy(block + kColumns * (p.row_bytes - kStartBytes) + column % kColumns * kStartBytes,
                  &start, sizeof(start));
    }
  }

  static void multiply(const MatrixVectors& p) {
    using namespace matrix_vectors;
    const payload::Activation activation = {p.least, p.most};
    const std::int32_t elements = p.first + p.vectors * kVector;
    const std::int32_t block_bytes = kColumns * ((1 + p.vectors) * kVector + kStartBytes);
    for (std::int32_t i = 0; i < kRows; ++i) {
      const std::int8_t* row = p.rows + i * p.step;
      const std::uint32_t of_row = sum(row, elements) * static_cast<std::uint32_t>(p.offset);
      for (std::int32_t column = 0; column < p.columns; ++column) {
        const std::int8_t* const block = p.table + column / kColumns * block_bytes;
        std::uint32_t total = 0;
        std::memcpy(&total,
                    block + block_bytes - kColumns * kStartBytes + column % kColumns * kStartBytes,
                    sizeof(total));
        total += of_row;
        const std::int8_t* from = block + column % kColumns * kVector;
        const std::int8_t* element = row;
        for (std::int32_t vector = 0; vector <= p.vectors; ++vector) {
          const std::int32_t count = vector == 0 ? p.first : kVector;
          for (std::int32_t k = 0; k < count; ++k) {
            total += static_cast<std::uint32_t>(element[k] * from[k]);
          }
          element += count;
          from += kColumns * kVector;
        }
        const std::int32_t scaled =
            requantize(static_cast<std::int32_t>(total), p.multiplier, p.shift);
        p.output[i * p.output_step + column] =
            clamp(wrapping_add(scaled, p.zero_point), activation);
      }
    }
  }
};

}  // namespace cmsis_nn_delegate::portable
