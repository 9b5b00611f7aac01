// The forms of requantization.py in C++, for cores without DSP.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/pair_products.h"

namespace cmsis_nn_delegate::tuned::requantization {

#if __ARM_ARCH_ISA_THUMB >= 2
inline std::int32_t multiply_high(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>((static_cast<std::int64_t>(a) * b) >> 32);
}
inline std::int32_t multiply_high_rounding(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>((static_cast<std::int64_t>(a) * b + (std::int64_t{1} << 31)) >>
                                   32);
}
#else
// Without long products: of the four parts of a product, no sum exceeds 32 bits.
/// a * b / 2^32 is the result and middle / 2^16, for b >= 0. `middle` is less than 2^31.
inline std::int32_t multiply_parts(std::int32_t a, std::int32_t b, std::uint32_t& middle) {
  const std::uint32_t a_low = static_cast<std::uint32_t>(a) & 0xFFFF;
  const std::int32_t a_high = a >> 16;
  const std::uint32_t b_low = static_cast<std::uint32_t>(b) & 0xFFFF;
  const std::int32_t b_high = b >> 16;
  const std::int32_t carried =
      portable::wrapping_add(portable::wrapping_mul(a_high, static_cast<std::int32_t>(b_low)),
                             static_cast<std::int32_t>((a_low * b_low) >> 16));
  middle =
      a_low * static_cast<std::uint32_t>(b_high) + (static_cast<std::uint32_t>(carried) & 0xFFFF);
  return portable::wrapping_add(portable::wrapping_mul(a_high, b_high), carried >> 16);
}
inline std::int32_t multiply_high(std::int32_t a, std::int32_t b) {
  std::uint32_t middle;
  const std::int32_t high = multiply_parts(a, b, middle);
  return high + static_cast<std::int32_t>(middle >> 16);
}
inline std::int32_t multiply_high_rounding(std::int32_t a, std::int32_t b) {
  std::uint32_t middle;
  const std::int32_t high = multiply_parts(a, b, middle);
  return high + static_cast<std::int32_t>((middle + (1 << 15)) >> 16);
}
#endif

// The compiler has proved that no shift is by 32 or more, and that no multiplier is negative.

/// Form::FLOOR.
inline std::int32_t floor(std::int32_t sum, const std::int32_t* scale) {
  const std::int32_t shifted = portable::wrapping_shift_left(sum, scale[0]);
  const std::int32_t value = portable::wrapping_add(multiply_high(shifted, scale[1]), scale[2]) >>
                             portable::pair_products::kFloorBits;
  return portable::pair_products::saturate(value);
}

/// Form::ANY, limited to [least, most].
inline std::int32_t any(std::int32_t sum, const std::int32_t* scale, std::int32_t least,
                        std::int32_t most) {
  const std::int32_t doubled = portable::wrapping_add(sum, sum);
  const std::int32_t scaled =
      portable::wrapping_add(multiply_high_rounding(doubled, scale[1]), scale[2]);
  const std::int32_t value = portable::wrapping_add(scaled, doubled >> 31) >> (scale[0] & 31);
  return value < least ? least : value > most ? most : value;
}

}  // namespace cmsis_nn_delegate::tuned::requantization
