// The integer arithmetic shared by the kernels. It follows TensorFlow Lite, as CMSIS-NN
// computes it without single rounding.
//
// The functions are defined for every input: sums wrap, and shift amounts are taken modulo 32. init()
// has checked that the multipliers and shifts of a payload are in the ranges that its format states.
#pragma once

#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

/// a + b, a - b and a * b modulo 2^32.
inline std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
inline std::int32_t wrapping_sub(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}
inline std::int32_t wrapping_mul(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}
inline std::int32_t wrapping_shift_left(std::int32_t value, std::int32_t amount) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << (amount & 31));
}

/// value / 2^exponent, halves away from zero. exponent is in [0, 31].
inline std::int32_t rounding_divide_by_pow2(std::int32_t value, std::int32_t exponent) {
  const std::uint32_t mask = (std::uint32_t{1} << (exponent & 31)) - 1;
  const std::uint32_t remainder = static_cast<std::uint32_t>(value) & mask;
  const std::uint32_t threshold = (mask >> 1) + (value < 0 ? 1 : 0);
  return (value >> (exponent & 31)) + (remainder > threshold ? 1 : 0);
}

/// A Q31 multiplier, not negative, rounded to 16 bits.
inline std::int32_t reduced_multiplier(std::int32_t multiplier) {
  return multiplier < 0x7FFF0000 ? (multiplier + (std::int32_t{1} << 15)) >> 16 : 0x7FFF;
}

/// value * multiplier * 2^(shift - 31), where `multiplier` is Q31 and `shift` in [-31, 30] is to
/// the left if positive. Rounds twice: half up after the multiplication, then half away from zero
/// after the right shift.
inline std::int32_t requantize(std::int32_t value, std::int32_t multiplier, std::int32_t shift) {
  const std::int32_t scaled = shift > 0 ? wrapping_shift_left(value, shift) : value;
  const std::int64_t product =
      static_cast<std::int64_t>(scaled) * multiplier + (std::int64_t{1} << 30);
  const auto high = static_cast<std::int32_t>(product >> 31);
  return shift < 0 ? rounding_divide_by_pow2(high, wrapping_sub(0, shift)) : high;
}

/// The same of a sum of at most 48 bits, with `shift` in [-31, 14], `multiplier` rounded to 16 bits, and
/// one rounding, half up. The result has at most 31 bits.
inline std::int32_t requantize_long(std::int64_t value, std::int32_t multiplier,
                                    std::int32_t shift) {
  const std::int32_t reduced = reduced_multiplier(multiplier);
  const std::uint64_t product =
      static_cast<std::uint64_t>(value) * static_cast<std::uint64_t>(std::int64_t{reduced});
  const auto doubled =
      static_cast<std::int32_t>(static_cast<std::int64_t>(product) >> (14 - shift));
  return wrapping_add(doubled, 1) >> 1;
}

/// `value` limited to [activation.min, activation.max], a subrange of `Element`.
template <typename Element, typename Limits>
inline Element clamp_to(std::int32_t value, const Limits& activation) {
  if (value < activation.min) {
    value = activation.min;
  }
  if (value > activation.max) {
    value = activation.max;
  }
  return static_cast<Element>(value);
}

/// The same for a subrange of int8.
template <typename Limits>
inline std::int8_t clamp(std::int32_t value, const Limits& activation) {
  return clamp_to<std::int8_t>(value, activation);
}

}  // namespace cmsis_nn_delegate::portable
