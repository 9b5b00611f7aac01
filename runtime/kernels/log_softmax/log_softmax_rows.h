// Rows of log_softmax of bytes, several elements at a time, on cores with DSP or MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/largest_byte.h"
#include "runtime/kernels/common/logarithm.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

inline constexpr int kExpBits = 30;  // of the exponentials after the point

#if CMSIS_NN_DELEGATE_WORDS
/// The sum of the exponentials of a row, whose largest element is `max`.
inline std::uint64_t exponential_sum(const std::int8_t* input, std::int32_t count, std::int32_t max,
                                     const std::uint32_t* exponentials) {
  // A product with 1 and a sum of 64 bits are one instruction, and the sum alone is two.
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  const auto add = [&](std::uint32_t exponential) {
    asm("umlal %0, %1, %2, %3" : "+r"(low), "+r"(high) : "r"(exponential), "r"(1));
  };
  const std::uint32_t most = repeated<std::int8_t>(max);
  for (; count >= 4; count -= 4, input += 4) {
    const FourBelow below(most, input);
    add(below.in<0>(exponentials));
    add(below.in<1>(exponentials));
    add(below.in<2>(exponentials));
    add(below.in<3>(exponentials));
  }
  for (; count > 0; --count) {
    add(exponentials[max - *input++]);
  }
  return static_cast<std::uint64_t>(high) << 32 | low;
}
#endif

#if CMSIS_NN_DELEGATE_VECTORS
/// The sum of the exponentials of a row, whose largest element is `max`.
inline std::uint64_t exponential_sum(const std::int8_t* input, std::int32_t count, std::int32_t max,
                                     const std::uint32_t* exponentials) {
  const int32x4_t most = vdupq_n_s32(max);
  const auto places = [=](int32x4_t values) {
    return vreinterpretq_u32_s32(vsubq_s32(most, values));
  };
  std::uint64_t sum = 0;
  for (; count >= 4; count -= 4, input += 4) {
    sum =
        vaddlvaq_u32(sum, vldrwq_gather_shifted_offset_u32(exponentials, places(load_four(input))));
  }
  if (count > 0) {
    const mve_pred16_t lanes = first_of_four(count);
    const uint32x4_t rest = places(load_four(input, lanes));
    sum = vaddlvaq_u32(sum, vldrwq_gather_shifted_offset_z_u32(exponentials, rest, lanes));
  }
  return sum;
}
#endif

#if CMSIS_NN_DELEGATE_VECTORS || CMSIS_NN_DELEGATE_WORDS
/// Computes rows as the loops of run_log_softmax() do, with products and sums of 32 bits.
///
/// Proof. A result is offset - floor((d * step * 2^20 + log_sum + 2^39) / 2^40), limited to int8, where d is how far an
/// element is below the largest one. d * step is an integer, so that this is
///
///     offset - floor((d * step + t) / 2^20) with t = floor((log_sum + 2^39) / 2^20),
///
/// and t >= 0, because the largest element alone has the exponential 1. Once d * step + t is 2^28 or more, the result
/// is less than -128, and limited to that. So nothing changes if t and the step are limited to 2^28, and then d to the
/// least number whose product with the step is 2^28 or more. The sum is at most 2^28 + 2^29 then.
///
/// -floor(v / 2^20) is floor((2^20 - 1 - v) / 2^20), and d is max - x, so that a result is
/// floor((x * step + start) / 2^20) with start = offset * 2^20 + 2^20 - 1 - t - max * step. The product and the start
/// may wrap around, but not their sum. It is at most the offset, or less than -128.
class LogSoftmaxRows {
 public:
  LogSoftmaxRows(const payload::LogSoftmaxArgs& a, const std::int32_t* exponentials)
      : exponentials_(reinterpret_cast<const std::uint32_t*>(exponentials)),
        log2_step_(a.log2_step),
        step_(a.step < kMost ? a.step : kMost),
        farthest_(step_ > kMost / 255 ? (kMost + step_ - 1) / step_ : 255),
        start_((static_cast<std::uint32_t>(a.output_offset) << kLogBits) + (1u << kLogBits) - 1) {}

  void compute(const std::int8_t* input, std::int32_t count, std::int8_t* output) const {
    const std::int32_t max = largest_byte(input, count);
    // Or 1, because a damaged table may contain zeros only.
    const std::uint64_t sum = exponential_sum(input, count, max, exponentials_) | 1;
    constexpr std::int64_t kHalf = std::int64_t{1} << (2 * kLogBits - 1);
    const std::int64_t log_sum = static_cast<std::int64_t>(log2_of(sum, kExpBits)) * log2_step_;
    const std::int64_t steps = (log_sum + kHalf) >> kLogBits;
    const auto step = static_cast<std::uint32_t>(step_);
    const std::uint32_t start = start_ - static_cast<std::uint32_t>(steps < kMost ? steps : kMost) -
                                static_cast<std::uint32_t>(max) * step;
    const std::int32_t least = max - farthest_ > -128 ? max - farthest_ : -128;
#if CMSIS_NN_DELEGATE_VECTORS
    const int32x4_t steps_of_one = vdupq_n_s32(step_);
    const auto results = [=](int32x4_t values) {
      const int32x4_t near = vmaxq_s32(values, vdupq_n_s32(least));
      const int32x4_t sums = vmlasq_n_s32(near, steps_of_one, static_cast<std::int32_t>(start));
      return vmaxq_s32(vshrq_n_s32(sums, kLogBits), vdupq_n_s32(-128));
    };
    for_fours(count, [=](std::int32_t i, auto... lanes) {
      store_four(output + i, results(load_four(input + i, lanes...)), lanes...);
    });
#else
    const auto result = [=](std::uint32_t value) {
      const std::uint32_t x =
          static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(value)});
      return static_cast<std::int8_t>(
          shifted_to_byte<kLogBits>(static_cast<std::int32_t>(x * step + start)));
    };
    const std::uint32_t least_of_each = repeated<std::int8_t>(least);
    for (; count >= 4; count -= 4, input += 4, output += 4) {
      const std::uint32_t values = larger_bytes(load_word(input), least_of_each);
      output[0] = result(values);
      output[1] = result(values >> 8);
      output[2] = result(values >> 16);
      output[3] = result(values >> 24);
    }
    for (; count > 0; --count) {
      const std::int32_t value = *input++;
      *output++ = result(static_cast<std::uint32_t>(value < least ? least : value));
    }
#endif
  }

 private:
  static constexpr std::int32_t kMost = std::int32_t{1} << (8 + kLogBits);

  const std::uint32_t* exponentials_;
  std::int32_t log2_step_;
  std::int32_t step_;
  std::int32_t farthest_;
  std::uint32_t start_;
};
#endif

}  // namespace cmsis_nn_delegate::portable
