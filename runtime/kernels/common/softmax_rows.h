// Softmax in fixed point, after gemmlowp. The exponentials of the differences to the maximum are
// in Q0.31, with 5 integer bits in the argument. They are summed in Q12.19, and three
// Newton-Raphson steps do the division.
#ifndef CMSIS_NN_DELEGATE_RUNTIME_KERNELS_PORTABLE_SOFTMAX_ROWS_H_
#define CMSIS_NN_DELEGATE_RUNTIME_KERNELS_PORTABLE_SOFTMAX_ROWS_H_

#include <cstdint>
#include <limits>

#include "runtime/kernels/common/requantize.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable::softmax_rows {

constexpr std::int32_t kInt32Max = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kInt32Min = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kAccumulationBits = 12;
/// In Q12.19, 2048: larger sums have the same result, because every probability is less than half a step from 512 on.
constexpr std::int32_t kLargeSum = std::int32_t{1} << 30;

/// a * b in Q31, rounded half away from zero, saturating.
inline std::int32_t multiply_q31(std::int32_t a, std::int32_t b) {
  if (a == kInt32Min && b == kInt32Min) {
    return kInt32Max;
  }
  const std::int64_t nudge =
      (a < 0) != (b < 0) ? 1 - (std::int64_t{1} << 30) : (std::int64_t{1} << 30);
  const std::int64_t product = static_cast<std::int64_t>(a) * b + nudge;
  // Divides by 2^31, truncating towards zero, without a division instruction.
  const std::int64_t bias = product < 0 ? (std::int64_t{1} << 31) - 1 : 0;
  return static_cast<std::int32_t>((product + bias) >> 31);
}

/// value * 2^exponent, saturating.
inline std::int32_t multiply_by_pow2(std::int32_t value, int exponent) {
  const std::int32_t threshold = (std::int32_t{1} << (31 - exponent)) - 1;
  if (value > threshold) {
    return kInt32Max;
  }
  if (value < -threshold) {
    return kInt32Min;
  }
  return wrapping_shift_left(value, exponent);
}

/// exp(value) in Q0.31 for value <= 0 in Q5.26.
[[gnu::noinline]] inline std::int32_t exp_on_negative_values(std::int32_t value) {
  constexpr std::int32_t kQuarter = std::int32_t{1} << 24;
  const std::int32_t in_quarter = (value & (kQuarter - 1)) - kQuarter;  // [-1/4, 0)
  const std::int32_t remainder = wrapping_sub(in_quarter, value);

  // Taylor series around -1/8.
  const std::int32_t x = wrapping_add(wrapping_shift_left(in_quarter, 5), std::int32_t{1} << 28);
  const std::int32_t x2 = multiply_q31(x, x);
  const std::int32_t x3 = multiply_q31(x2, x);
  const std::int32_t x4 = multiply_q31(x2, x2);
  constexpr std::int32_t kOneThird = 715827883;
  constexpr std::int32_t kExpOfMinusEighth = 1895147668;
  const std::int32_t x4_over_24_plus_x3_over_6_plus_x2_over_2 = rounding_divide_by_pow2(
      wrapping_add(multiply_q31(wrapping_add(rounding_divide_by_pow2(x4, 2), x3), kOneThird), x2),
      1);
  std::int32_t result = wrapping_add(
      kExpOfMinusEighth,
      multiply_q31(kExpOfMinusEighth, wrapping_add(x, x4_over_24_plus_x3_over_6_plus_x2_over_2)));

  // exp(-2^k) for k = -2 .. 4; each bit of the remainder selects one of them.
  constexpr std::int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                       39332535,   720401,     242};
  std::int32_t bit = kQuarter;
  for (const std::int32_t factor : kFactors) {
    if ((remainder & bit) != 0) {
      result = multiply_q31(result, factor);
    }
    bit = wrapping_shift_left(bit, 1);
  }
  return value == 0 ? kInt32Max : result;
}

/// 1 / (1 + value) for value in [0, 1) in Q0.31.
[[gnu::noinline]] inline std::int32_t one_over_one_plus_x(std::int32_t value) {
  const std::int64_t sum = static_cast<std::int64_t>(value) + kInt32Max;
  const std::int64_t nudged = sum + (sum >= 0 ? 1 : -1);
  const auto half_denominator =
      static_cast<std::int32_t>((nudged + (nudged < 0 ? 1 : 0)) >> 1);  // towards zero
  constexpr std::int32_t k48Over17 = 1515870810;                        // Q2.29
  constexpr std::int32_t kMinus32Over17 = -1010580540;                  // Q2.29
  constexpr std::int32_t kOne = std::int32_t{1} << 29;                  // Q2.29
  std::int32_t x = wrapping_add(k48Over17, multiply_q31(half_denominator, kMinus32Over17));
  for (int i = 0; i < 3; ++i) {
    const std::int32_t error = wrapping_sub(kOne, multiply_q31(half_denominator, x));
    x = wrapping_add(x, multiply_by_pow2(multiply_q31(x, error), 2));
  }
  return multiply_by_pow2(x, 1);
}

inline int count_leading_zeros(std::uint32_t value) {
  return value == 0 ? 32 : __builtin_clz(value);
}

/// What the exponentials of a row are divided by.
struct Reciprocal {
  std::int32_t inverse;  // in Q0.31, of a number of [1, 2)
  std::int32_t
      exponent;  // by which the product is shifted down, rounded; above 31 if every result is 0

  /// Of a sum in Q12.19; 0 for rows of which no element counts.
  static Reciprocal of(std::int32_t sum) {
    const int headroom = count_leading_zeros(static_cast<std::uint32_t>(sum));
    const std::int32_t normalized =
        wrapping_sub(sum > 0 ? wrapping_shift_left(sum, headroom) : 0, kInt32Min);
    return {one_over_one_plus_x(normalized), kAccumulationBits - headroom + 23};
  }
};

/// Every element counts.
struct NoMask {
  bool counts(std::int32_t) const { return true; }
  void next_row() const {}
};

/// Computes all rows of `args`. `kLong` stops the sum of rows of 4096 elements and more from overflowing. `mask` says
/// which elements of a row count; the others become 0.
template <bool kLong, typename Args, typename Mask = NoMask>
void compute_rows(const Args& args, const std::int8_t* input, std::int8_t* output,
                  Mask mask = Mask()) {
  const std::int32_t scale = std::int32_t{1} << args.shift;
  const auto exponential = [&](std::int32_t difference) {
    return exp_on_negative_values(multiply_q31(wrapping_mul(difference, scale), args.multiplier));
  };

  for (std::int32_t row = 0; row < args.rows; ++row) {
    std::int32_t max = std::numeric_limits<std::int8_t>::min();
    for (std::int32_t i = 0; i < args.row_size; ++i) {
      max = input[i] > max && mask.counts(i) ? input[i] : max;
    }

    std::int32_t sum = 0;
    for (std::int32_t i = 0; i < args.row_size; ++i) {
      const std::int32_t difference = input[i] - max;
      if (difference >= args.diff_min && mask.counts(i)) {
        const std::int32_t term =
            rounding_divide_by_pow2(exponential(difference), kAccumulationBits);
        sum = kLong && sum >= kLargeSum ? sum : wrapping_add(sum, term);
      }
    }

    const Reciprocal reciprocal = Reciprocal::of(sum);
    for (std::int32_t i = 0; i < args.row_size; ++i) {
      const std::int32_t difference = input[i] - max;
      std::int32_t value = 0;
      // For sums of 512 and more every probability is less than half a step: the exponent leaves
      // the range of the division, and the exact result is 0.
      if (difference >= args.diff_min && reciprocal.exponent <= 31 && mask.counts(i)) {
        value = rounding_divide_by_pow2(multiply_q31(reciprocal.inverse, exponential(difference)),
                                        reciprocal.exponent);
      }
      value = wrapping_sub(value, 128);
      output[i] = static_cast<std::int8_t>(value > 127 ? 127 : (value < -128 ? -128 : value));
    }
    input += args.row_size;
    output += args.row_size;
    mask.next_row();
  }
}

}  // namespace cmsis_nn_delegate::portable::softmax_rows

#endif  // CMSIS_NN_DELEGATE_RUNTIME_KERNELS_PORTABLE_SOFTMAX_ROWS_H_
