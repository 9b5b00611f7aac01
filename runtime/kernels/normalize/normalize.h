// Normalization of groups. The variance is exact, in the squared steps of the input times the squared
// size of the group; a root of 32 bits and one division a group give the factor for its elements.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

inline constexpr int kFractionBits = 20;  // of normalized values

/// The greatest integer whose square is at most `value`.
inline std::uint32_t square_root(std::uint64_t value) {
  std::uint32_t root = 0;
  for (std::uint32_t bit = std::uint32_t{1} << 31; bit != 0; bit >>= 1) {
    const std::uint64_t larger = root | bit;
    if (larger * larger <= value) {
      root |= bit;
    }
  }
  return root;
}

/// value / 2^shift, halves up, for a shift of at least 1.
inline std::int64_t rounding_shift_right(std::int64_t value, int shift) {
  return (value + (std::int64_t{1} << (shift - 1))) >> shift;
}

/// factor * 2^-shift is 2^kFractionBits / sqrt(variance + epsilon).
struct Reciprocal {
  std::int64_t factor;
  int shift;
};

template <typename Args>
inline Reciprocal reciprocal_root(const Args& a, std::uint64_t variance) {
  const int bits = 2 * a.half_shift;
  const std::uint64_t scaled = bits >= 0 ? variance << bits : variance >> -bits;
  std::uint64_t sum = scaled + (static_cast<std::uint64_t>(a.epsilon_high) << 31) +
                      static_cast<std::uint64_t>(a.epsilon_low);
  sum = sum == 0 ? 1 : sum;  // then the group is constant, and every factor gives zeros
  int pairs = 0;             // of leading zeros
  for (; (sum >> 62) == 0; sum <<= 2) {
    ++pairs;
  }
  const std::uint64_t factor = (std::uint64_t{1} << 62) / square_root(sum);
  const int shift = 62 - kFractionBits - pairs - a.half_shift;
  return {static_cast<std::int64_t>(factor), shift > 1 ? shift : 1};
}

/// Computes all groups of elements of any type. `input_offset` is -zero_point of the input, and `output_offset` the
/// zero point of the output, which may be the input.
template <typename Element, typename Args>
inline void normalize_groups(const Args& a, const Bases& bases, std::int32_t input_offset,
                             std::int32_t output_offset) {
  const auto* input = bases.resolve<const Element>(a.input);
  const auto* weight = bases.resolve<const std::int32_t>(a.weight);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  auto* output = bases.resolve<Element>(a.output);
  const std::int32_t size = a.outer * a.inner;
  const std::int32_t step = a.interleaved != 0 ? a.groups * a.inner : a.inner;
  const int shift = kFractionBits + a.parameter_shift;

  std::int32_t group = 0;  // of a batch
  for (std::int32_t row = 0; row < a.rows; ++row) {
    std::int32_t sum = 0;
    std::uint64_t squares = 0;
    for (std::int32_t i = 0; i < a.outer; ++i) {
      for (std::int32_t j = 0; j < a.inner; ++j) {
        const std::int32_t x = input[i * step + j] + input_offset;
        sum += x;
        squares += static_cast<std::uint32_t>(x * x);
      }
    }
    const std::int64_t mean = a.centered != 0 ? sum : 0;  // times `size`
    const std::uint64_t variance =
        static_cast<std::uint64_t>(size) * squares - static_cast<std::uint64_t>(mean * mean);
    const Reciprocal root = reciprocal_root(a, variance);

    for (std::int32_t i = 0; i < a.outer; ++i) {
      std::int32_t parameter = group * a.group_step + i * a.outer_step;
      for (std::int32_t j = 0; j < a.inner; ++j) {
        const std::int32_t x = input[i * step + j] + input_offset;
        const std::int64_t difference = static_cast<std::int64_t>(size) * x - mean;
        const auto normal =
            static_cast<std::int32_t>(rounding_shift_right(difference * root.factor, root.shift));
        const std::int64_t value =
            static_cast<std::int64_t>(normal) * weight[parameter] +
            static_cast<std::int64_t>(bias[parameter]) * (std::int64_t{1} << kFractionBits);
        std::int64_t steps = rounding_shift_right(value, shift);
        // A value far out of range stays there when the zero point is added.
        constexpr std::int64_t kFar = std::int64_t{1} << 30;
        steps = steps > kFar ? kFar : (steps < -kFar ? -kFar : steps);
        output[i * step + j] =
            clamp_to<Element>(static_cast<std::int32_t>(steps) + output_offset, a.activation);
        parameter += a.inner_step;
      }
    }

    // The next group of the batch, or the first of the next batch.
    ++group;
    std::int32_t next = a.interleaved != 0 ? a.inner : size;
    if (group == a.groups) {
      group = 0;
      next = a.interleaved != 0 ? size * a.groups - a.inner * (a.groups - 1) : size;
    }
    input += next;
    output += next;
  }
}

}  // namespace cmsis_nn_delegate::portable
