// Rows of a softmax of int8 with a table of the exponentials. Assembly for an instruction set has the same functions as
// PlainSoftmaxRows.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/kernels/common/softmax_rows.h"

namespace cmsis_nn_delegate::portable {

/// A row, and what its probabilities are made of.
struct SoftmaxRow {
  const std::int8_t* input;
  std::int8_t* output;        // may be `input`
  const std::int32_t* table;  // of the differences 0 to -255 to the maximum, Q0.31
  std::int32_t size;          // >= 1
  std::int32_t most;          // the maximum
  std::int32_t inverse;       // >= 0
  std::int32_t exponent;      // 0 to 31
};

/// The functions for plain C++.
struct PlainSoftmaxRows {
  static std::int32_t most(const std::int8_t* input, std::int32_t size) {
    std::int32_t most = std::numeric_limits<std::int8_t>::min();
    for (std::int32_t i = 0; i < size; ++i) {
      most = input[i] > most ? input[i] : most;
    }
    return most;
  }

  /// Returns the sum of the exponentials in Q12.19.
  static std::int32_t sum(const SoftmaxRow& row) {
    constexpr std::uint32_t kHalf = std::uint32_t{1} << (softmax_rows::kAccumulationBits - 1);
    std::uint32_t sum = 0;
    for (std::int32_t i = 0; i < row.size; ++i) {
      const auto exponential = static_cast<std::uint32_t>(row.table[row.most - row.input[i]]);
      sum += (exponential + kHalf) >> softmax_rows::kAccumulationBits;
    }
    return static_cast<std::int32_t>(sum);
  }

  /// Writes the probabilities. Neither factor is negative, so that halves are rounded up.
  static void write(const SoftmaxRow& row) {
    constexpr std::uint32_t kHalf = std::uint32_t{1} << 30;
    const auto inverse = static_cast<std::uint32_t>(row.inverse);
    const std::uint32_t half = (std::uint32_t{1} << row.exponent) >> 1;
    for (std::int32_t i = 0; i < row.size; ++i) {
      const auto exponential = static_cast<std::uint32_t>(row.table[row.most - row.input[i]]);
      const auto product =
          static_cast<std::uint32_t>((std::uint64_t{exponential} * inverse + kHalf) >> 31);
      const std::uint32_t value = (product + half) >> row.exponent;
      row.output[i] = static_cast<std::int8_t>(static_cast<int>(value > 255 ? 255 : value) - 128);
    }
  }
};

/// Sets what the probabilities of `row` are made of, for a sum of its exponentials.
inline void set_sum(std::int32_t sum, SoftmaxRow& row) {
  const softmax_rows::Reciprocal reciprocal = softmax_rows::Reciprocal::of(sum);
  row.inverse = reciprocal.exponent > 31 ? 0 : reciprocal.inverse;
  row.exponent = reciprocal.exponent & 31;
}

}  // namespace cmsis_nn_delegate::portable
