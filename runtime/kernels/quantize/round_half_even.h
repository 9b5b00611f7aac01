// Rounding of floats on any core.
#pragma once

#include <cstdint>
#include <cstring>

namespace cmsis_nn_delegate::portable {

/// Returns the integer nearest to `value`, halves to even; 0 for NaN. For what is further away from
/// 0 than 2^kBits it returns an integer of the same sign that is at least as far away as that.
///
/// Without an FPU it works on the bits, so it needs no rounding mode and no libm, and a compiler
/// cannot contract it with the multiplication before it.
template <std::uint32_t kBits>
inline std::int32_t round_half_even(float value) {
  static_assert(sizeof(float) == sizeof(std::uint32_t), "IEEE 754 single precision");
  static_assert(kBits < 23, "a shift is positive");
#if defined(__arm__) && defined(__ARM_FP) && (__ARM_FP & 4) != 0
  // It rounds as FPSCR says, which is to even unless somebody changes it, saturates to 32 bits, and
  // makes 0 of NaN.
  float converted;
  asm("vcvtr.s32.f32 %0, %1" : "=t"(converted) : "t"(value));
  std::int32_t nearest;
  std::memcpy(&nearest, &converted, sizeof(nearest));
  return nearest;
#else
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const std::uint32_t exponent = (bits >> 23) & 0xFF;  // of value, biased by 127
  const std::uint32_t fraction = bits & 0x7FFFFF;

  std::int32_t magnitude = std::int32_t{1} << kBits;
  const bool is_nan = exponent == 255 && fraction != 0;
  if (exponent < 126 || is_nan) {  // |value| < 1/2
    magnitude = 0;
  } else if (exponent < 127 + kBits) {
    const std::uint32_t significand = fraction | 0x800000;
    const std::uint32_t shift = 150 - exponent;  // [24 - kBits, 24]
    const std::uint32_t half = std::uint32_t{1} << (shift - 1);
    const std::uint32_t remainder = significand & ((half << 1) - 1);
    std::uint32_t quotient = significand >> shift;
    if (remainder > half || (remainder == half && (quotient & 1) != 0)) {
      ++quotient;
    }
    magnitude = static_cast<std::int32_t>(quotient);
  }
  return (bits >> 31) != 0 ? -magnitude : magnitude;
#endif
}

}  // namespace cmsis_nn_delegate::portable
