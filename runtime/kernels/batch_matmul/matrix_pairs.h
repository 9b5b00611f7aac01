// What the product of matrices that multiplies pairs of elements does in its inner loops, in plain C++. Assembly for an
// instruction set has the same functions (matrix_pairs_dsp.h).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/pair_products.h"

namespace cmsis_nn_delegate::portable {

/// The products of two widened rows of the first input with those of the second one, four at a time. A widened row has
/// two words for each four elements k to k + 3, of which the last ones may be 0: elements k and k + 2, then k + 1 and
/// k + 3, as int16. Of rows that are widened together, the same words lie side by side.
struct MatrixPairs {
  const std::int32_t* rows;  // two of the first input
  const std::int32_t*
      table;  // the rows of the second one, in fours; of the last four, some may have been there before
  std::int8_t* output0;  // the results of the first and of the second row, which may be the same
  std::int8_t* output1;
  std::int32_t columns;     // rows of the second input, >= 4
  std::int32_t fours;       // of elements of a row, >= 1
  std::int32_t shift;       // to the right, >= 1
  std::int32_t multiplier;  // Q31
  std::int32_t correction;  // as in requantization.py
  std::int32_t limited;     // 0: the limits are those of int8
  std::uint32_t least;      // the limits of results, four times
  std::uint32_t most;
};

namespace matrix_pairs {

inline constexpr std::int32_t kRows = 2;     // of the first input
inline constexpr std::int32_t kColumns = 4;  // rows of the second one
inline constexpr std::int32_t kFour = 4;     // elements
inline constexpr std::int32_t kWords = 2;    // for them
inline constexpr std::int32_t kHalf = 0xFFFF;

/// Two elements in a word.
inline std::int32_t pair(std::int32_t low, std::int32_t high) {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(low) & kHalf) |
                                   static_cast<std::uint32_t>(high) << 16);
}

template <std::int32_t kCount>
void widen(const std::int8_t* rows, std::int32_t step, std::int32_t* out, std::int32_t words,
           std::int32_t offset) {
  for (std::int32_t word = 0; word < words; ++word, rows += kFour, out += kWords * kCount) {
    for (std::int32_t i = 0; i < kCount; ++i) {
      const std::int8_t* x = rows + i * step;
      out[i] = pair(x[0] + offset, x[2] + offset);
      out[kCount + i] = pair(x[1] + offset, x[3] + offset);
    }
  }
}

}  // namespace matrix_pairs

/// The functions for plain C++.
struct PlainMatrixPairs {
  /// Widens `words` >= 1 times four elements of two rows, `step` elements apart, and adds `offset` to each.
  static void widen_two(const std::int8_t* rows, std::int32_t step, std::int32_t* out,
                        std::int32_t words, std::int32_t offset) {
    matrix_pairs::widen<matrix_pairs::kRows>(rows, step, out, words, offset);
  }
  /// The same of four rows.
  static void widen_four(const std::int8_t* rows, std::int32_t step, std::int32_t* out,
                         std::int32_t words, std::int32_t offset) {
    matrix_pairs::widen<matrix_pairs::kColumns>(rows, step, out, words, offset);
  }
  static void multiply(const MatrixPairs& p) {
    using matrix_pairs::kColumns;
    using matrix_pairs::kRows;
    using pair_products::high_half;
    using pair_products::low_half;
    const payload::Activation activation = {static_cast<std::int8_t>(p.least & 0xFF),
                                            static_cast<std::int8_t>(p.most & 0xFF)};
    const std::int32_t scale[] = {p.shift, p.multiplier, p.correction};
    const std::int32_t words = p.fours * matrix_pairs::kWords;
    const std::int32_t* table = p.table;
    for (std::int32_t first = 0; first < p.columns; first += kColumns) {
      const std::int32_t at = first + kColumns <= p.columns ? first : p.columns - kColumns;
      for (std::int32_t i = 0; i < kColumns; ++i) {
        for (std::int32_t row = 0; row < kRows; ++row) {
          std::uint32_t sum = 0;
          for (std::int32_t word = 0; word < words; ++word) {
            const std::int32_t a = p.rows[word * kRows + row];
            const std::int32_t b = table[word * kColumns + i];
            sum += static_cast<std::uint32_t>(low_half(a) * low_half(b)) +
                   static_cast<std::uint32_t>(high_half(a) * high_half(b));
          }
          (row == 0 ? p.output0 : p.output1)[at + i] = clamp(
              pair_products::Any::requantize(static_cast<std::int32_t>(sum), scale), activation);
        }
      }
      table += words * kColumns;
    }
  }
};

}  // namespace cmsis_nn_delegate::portable
