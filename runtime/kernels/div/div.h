// The arithmetic of quotients, for the kernels of all types.
//
// A quotient of steps, floor(|a| * multiplier * 2^(shift - 31) / |b| + 1/2), is computed as
//   doubled = floor(2 * |a| * multiplier * 2^(shift - 31))
//   floor(floor((doubled + |b|) / 2) / |b|)
// which is the same: a floor within a floor of a quotient by an integer changes nothing. So the division has 32 bits.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/vectors.h"

namespace cmsis_nn_delegate::portable {

// Steps of a quotient by zero: more than any output has.
inline constexpr std::int32_t kEndless = 1 << 20;

/// What a row of quotients is computed with. The offsets are those of both inputs and of the output.
template <typename Limits>
struct Quotients {
  std::int32_t multiplier;
  std::int32_t shift;
  std::int32_t offset1;
  std::int32_t offset2;
  std::int32_t output_offset;
  Limits activation;
};

/// Whether `doubled` is the upper half of a product of 32 bits: steps of int8 are at most 255, and shifts then at most
/// 17; steps of int16 are at most 2^15.
template <typename Element>
inline bool fits_words([[maybe_unused]] std::int32_t shift) {
#ifdef __OPTIMIZE_SIZE__
  return sizeof(Element) == 1;  // one loop for all shifts
#else
  return sizeof(Element) == 1 || shift <= 14;
#endif
}

/// floor((doubled + |b|) / 2) / |b| with the sign of a / b. A quotient beyond the output's range becomes any that is,
/// too.
template <typename Doubled>
inline std::int32_t rounded_quotient(std::int32_t a, std::int32_t b, Doubled doubled) {
  if (b == 0) {
    return a == 0 ? 0 : a < 0 ? -kEndless : kEndless;
  }
  const auto divisor = static_cast<std::uint32_t>(b < 0 ? -b : b);
  const Doubled dividend = (doubled + divisor) / 2;
  constexpr Doubled kMost = 0x7FFFFFFF;  // divided by 2^15, it is beyond any output's range
  const auto limited = static_cast<std::uint32_t>(dividend > kMost ? kMost : dividend);
  const auto steps = static_cast<std::int32_t>(limited / divisor);
  return (a < 0) != (b < 0) ? -steps : steps;
}

#if CMSIS_NN_DELEGATE_VECTORS
/// divide_row() for a shift that fits_words().
template <typename Element, typename Limits>
inline void divide_fours(const Quotients<Limits>& q, const Element* input1, const Element* input2,
                         Element* output, std::int32_t count) {
  const std::int32_t left = q.shift + 2 > 0 ? q.shift + 2 : 0;
  const std::int32_t right = q.shift + 2 < 0 ? q.shift + 2 : 0;
  const uint32x4_t multiplier = vdupq_n_u32(static_cast<std::uint32_t>(q.multiplier));
  for_fours(count, [&](std::int32_t i, auto... lanes) {
    const int32x4_t a = vaddq_n_s32(load_four(input1 + i, lanes...), q.offset1);
    const int32x4_t b = vaddq_n_s32(load_four(input2 + i, lanes...), q.offset2);
    const int32x4_t size_a = vabsq_s32(a);
    const int32x4_t size_b = vabsq_s32(b);
    const uint32x4_t scaled = vshlq_r_u32(vreinterpretq_u32_s32(size_a), left);
    const uint32x4_t doubled = vshlq_r_u32(vmulhq_u32(scaled, multiplier), right);
    const uint32x4_t halves = vhaddq_u32(doubled, vreinterpretq_u32_s32(size_b));
    // Instead of 0 it divides by 1, and at least 2^15 * |a|: that is beyond the output's range, unless a is 0.
    const int32x4_t by_zero = vshrq_n_s32(vsubq_n_s32(size_b, 1), 31);
    const int32x4_t divisors = vsubq_s32(size_b, by_zero);
    const int32x4_t dividends =
        vorrq_s32(vreinterpretq_s32_u32(halves), vandq_s32(by_zero, vshlq_n_s32(size_a, 15)));
    int32x4_t steps = vdupq_n_s32(vgetq_lane_s32(dividends, 0) / vgetq_lane_s32(divisors, 0));
    steps = vsetq_lane_s32(vgetq_lane_s32(dividends, 1) / vgetq_lane_s32(divisors, 1), steps, 1);
    steps = vsetq_lane_s32(vgetq_lane_s32(dividends, 2) / vgetq_lane_s32(divisors, 2), steps, 2);
    steps = vsetq_lane_s32(vgetq_lane_s32(dividends, 3) / vgetq_lane_s32(divisors, 3), steps, 3);
    const int32x4_t sign = vshrq_n_s32(veorq_s32(a, b), 31);
    steps = vsubq_s32(veorq_s32(steps, sign), sign);
    store_four(output + i, clamp_four(vaddq_n_s32(steps, q.output_offset), q.activation), lanes...);
  });
}
#endif

/// Computes `count` quotients. `multiplier` is in [0, 2^31) and `shift` in [-17, 30].
template <typename Element, typename Limits>
inline void divide_row(const Quotients<Limits>& q, const Element* input1, const Element* input2,
                       Element* output, std::int32_t count) {
  const auto store = [&](std::int32_t i, std::int32_t a, std::int32_t b, auto doubled) {
    const std::int32_t steps = rounded_quotient(a, b, doubled);
    output[i] = clamp_to<Element>(wrapping_add(steps, q.output_offset), q.activation);
  };
  if (fits_words<Element>(q.shift)) {
#if CMSIS_NN_DELEGATE_VECTORS
    divide_fours(q, input1, input2, output, count);
#else
    const std::int32_t left = q.shift + 2 > 0 ? q.shift + 2 : 0;
    const std::int32_t right = left - (q.shift + 2);
    for (std::int32_t i = 0; i < count; ++i) {
      const std::int32_t a = input1[i] + q.offset1;
      const auto scaled = static_cast<std::uint32_t>(a < 0 ? -a : a) << left;
      const std::uint64_t product =
          static_cast<std::uint64_t>(scaled) * static_cast<std::uint32_t>(q.multiplier);
      store(i, a, input2[i] + q.offset2, static_cast<std::uint32_t>(product >> 32) >> right);
    }
#endif
    return;
  }
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t a = input1[i] + q.offset1;
    const std::uint64_t product =
        static_cast<std::uint64_t>(a < 0 ? -a : a) * static_cast<std::uint32_t>(q.multiplier);
    store(i, a, input2[i] + q.offset2, product >> (30 - q.shift));
  }
}

}  // namespace cmsis_nn_delegate::portable
