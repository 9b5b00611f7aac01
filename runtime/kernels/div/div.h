// The arithmetic of quotients, for the kernels of all types.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable {

// Steps of a quotient by zero: more than any output has.
inline constexpr std::int32_t kEndless = 1 << 20;

/// a / b * multiplier * 2^(shift - 31), rounded once, halves away from zero, at most kEndless. `a` and `b` are in
/// [-2^15, 2^15] and `shift` is in [-17, 30].
inline std::int32_t quotient(std::int32_t a, std::int32_t b, std::int32_t multiplier,
                             std::int32_t shift) {
  if (b == 0) {
    return a == 0 ? 0 : a < 0 ? -kEndless : kEndless;
  }
  // At most 2^46 * 2^17; the divisor is shifted by the rest.
  constexpr std::int32_t kMostLeft = 17;
  const std::int32_t left = shift < 0 ? 0 : shift < kMostLeft ? shift : kMostLeft;
  const std::uint64_t dividend =
      (static_cast<std::uint64_t>(a < 0 ? -a : a) * static_cast<std::uint32_t>(multiplier)) << left;
  const std::uint64_t divisor = static_cast<std::uint64_t>(b < 0 ? -b : b) << (31 + left - shift);
  const std::uint64_t exact = (dividend + divisor / 2) / divisor;
  const std::int32_t rounded = exact > kEndless ? kEndless : static_cast<std::int32_t>(exact);
  return (a < 0) != (b < 0) ? -rounded : rounded;
}

}  // namespace cmsis_nn_delegate::portable
