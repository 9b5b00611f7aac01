// Rows of a softmax of int8 with a table of the exponentials. Assembly for an instruction set has the same functions as
// PlainSoftmaxRows.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/largest_byte.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/common/softmax_rows.h"
#include "runtime/kernels/common/words.h"

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

/// The functions for plain C++. On cores with DSP they take four elements at a time.
struct PlainSoftmaxRows {
  static std::int32_t most(const std::int8_t* input, std::int32_t size) {
    return largest_byte(input, size);
  }

  /// Returns the sum of the exponentials in Q12.19.
  static std::int32_t sum(const SoftmaxRow& row) {
    const std::int32_t* const table = row.table;
    const std::int8_t* input = row.input;
    const std::int8_t* const end = input + row.size;
#if CMSIS_NN_DELEGATE_WORDS
    std::int32_t sum = 0;
    // Exponentials are less than 2^31, so that signed products do.
    const auto add = [&](std::int32_t exponential) {
      constexpr std::int32_t kFactor = std::int32_t{1} << (32 - softmax_rows::kAccumulationBits);
      sum = add_rounded_upper_half(sum, exponential, kFactor);
    };
    const std::uint32_t most = repeated<std::int8_t>(row.most);
    for (const std::int8_t* const last = end - row.size % 4; input != last; input += 4) {
      const FourBelow below(most, input);
      add(below.in<0>(table));
      add(below.in<1>(table));
      add(below.in<2>(table));
      add(below.in<3>(table));
    }
    for (; input != end; ++input) {
      add(table[row.most - *input]);
    }
    return sum;
#else
    constexpr std::uint32_t kHalf = std::uint32_t{1} << (softmax_rows::kAccumulationBits - 1);
    std::uint32_t sum = 0;
    for (; input != end; ++input) {
      const auto exponential = static_cast<std::uint32_t>(table[row.most - *input]);
      sum += (exponential + kHalf) >> softmax_rows::kAccumulationBits;
    }
    return static_cast<std::int32_t>(sum);
#endif
  }

  /// Writes the probabilities. Neither factor is negative, so that halves are rounded up.
  static void write(const SoftmaxRow& row) {
    const std::int32_t* const table = row.table;
    const std::int8_t* input = row.input;
    const std::int8_t* const end = input + row.size;
    std::int8_t* output = row.output;
#if CMSIS_NN_DELEGATE_WORDS
    // Both roundings of the other branch are one: for an exponent of at least 2,
    //
    //     floor((floor(p / 2^31) + half) / 2^exponent) = floor((p + half * 2^31) / 2^(31 + exponent)),
    //
    // where p is the product plus 2^30, of 62 bits, and half * 2^31 is 2^(exponent - 2) in the upper word. That word is
    // shifted by one less than the exponent. If an exponent is less than 3, the inverse is 0, and so are all results.
    const auto inverse = static_cast<std::uint32_t>(row.inverse);
    const std::uint32_t half = (std::uint32_t{1} << row.exponent) >> 2;
    const std::int32_t shift = row.exponent > 0 ? row.exponent - 1 : 0;
    const auto probability = [&](std::int32_t exponential) {
      std::uint32_t low = std::uint32_t{1} << 30;
      std::uint32_t high = half;
      asm("umlal %0, %1, %2, %3" : "+r"(low), "+r"(high) : "r"(exponential), "r"(inverse));
      std::uint32_t value;
      asm("usat %0, #8, %1" : "=r"(value) : "r"(high >> shift));
      return value;
    };
    const std::uint32_t most = repeated<std::int8_t>(row.most);
    for (const std::int8_t* const last = end - row.size % 4; input != last;
         input += 4, output += 4) {
      const FourBelow below(most, input);
      const std::uint32_t four =
          probability(below.in<0>(table)) | probability(below.in<1>(table)) << 8 |
          probability(below.in<2>(table)) << 16 | probability(below.in<3>(table)) << 24;
      store_word(output, four ^ 0x80808080u);
    }
    for (; input != end; ++input) {
      *output++ = static_cast<std::int8_t>(probability(table[row.most - *input]) ^ 0x80u);
    }
#else
    constexpr std::uint32_t kHalf = std::uint32_t{1} << 30;
    const auto inverse = static_cast<std::uint32_t>(row.inverse);
    const std::uint32_t half = (std::uint32_t{1} << row.exponent) >> 1;
    for (; input != end; ++input) {
      const auto exponential = static_cast<std::uint32_t>(table[row.most - *input]);
      const auto product =
          static_cast<std::uint32_t>((std::uint64_t{exponential} * inverse + kHalf) >> 31);
      const std::uint32_t value = (product + half) >> row.exponent;
      *output++ = static_cast<std::int8_t>(static_cast<int>(value > 255 ? 255 : value) - 128);
    }
#endif
  }
};

/// Sets what the probabilities of `row` are made of, for a sum of its exponentials.
inline void set_sum(std::int32_t sum, SoftmaxRow& row) {
  const softmax_rows::Reciprocal reciprocal = softmax_rows::Reciprocal::of(sum);
  row.inverse = reciprocal.exponent > 31 ? 0 : reciprocal.inverse;
  row.exponent = reciprocal.exponent & 31;
}

}  // namespace cmsis_nn_delegate::portable
