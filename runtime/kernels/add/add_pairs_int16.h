// Elementwise sums of int16, two at a time, rounded as add_int16 rounds them. Assembly for an instruction set has the
// same function as PlainPairSums (add_pairs_int16_tuned.cc).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// The numbers of a sum: see aot/cmsis_nn_delegate/providers/tuned/add_pairs_int16.py.
struct PairSum {
  std::int32_t factor;
  std::int32_t multiplier;
  std::int32_t unit;
  std::int32_t output_multiplier;
  std::int32_t output_unit;
  std::int32_t limits;  // one of pair_sums
  // Twice the limits of results, in a word.
  std::uint32_t least;
  std::uint32_t most;
};

namespace pair_sums {

inline constexpr std::int32_t kAtATime = 2;

inline constexpr std::int32_t kNoLimits = 0;  // those of int16
inline constexpr std::int32_t kNotNegative = 1;
inline constexpr std::int32_t kAnyLimits = 2;

/// SMMLAR, rounded half up: a * b / 2^32 + sum.
inline std::int32_t multiply_add(std::int32_t a, std::int32_t b, std::int32_t sum) {
  const std::int64_t product = std::int64_t{a} * b + (std::int64_t{1} << 31);
  return wrapping_add(static_cast<std::int32_t>(product >> 32), sum);
}

/// SMMLSR, rounded half up: sum - a * b / 2^32.
inline std::int32_t multiply_subtract(std::int32_t a, std::int32_t b, std::int32_t sum) {
  const std::int64_t product = (std::int64_t{1} << 31) - std::int64_t{a} * b;
  return wrapping_add(static_cast<std::int32_t>(product >> 32), sum);
}

/// ADD value, value, ASR #31: one less if it is negative, so that a half is rounded away from zero.
inline std::int32_t nudge(std::int32_t value) { return wrapping_add(value, value >> 31); }

/// Computes `count` elements. The output may be one of the inputs.
inline void add(const std::int16_t* a, const std::int16_t* b, std::int16_t* output,
                std::int32_t count, const PairSum& p) {
  const auto least = static_cast<std::int16_t>(p.least & 0xFFFF);
  const auto most = static_cast<std::int16_t>(p.most & 0xFFFF);
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t scaled = multiply_add(wrapping_shift_left(b[i], 16), p.multiplier, 0);
    const std::int32_t sum = multiply_subtract(nudge(scaled), p.unit, wrapping_mul(a[i], p.factor));
    const std::int32_t rescaled = multiply_add(sum, p.output_multiplier, nudge(sum));
    const std::int32_t value = multiply_add(rescaled, p.output_unit, 0);
    output[i] = static_cast<std::int16_t>(value < least ? least : value > most ? most : value);
  }
}

}  // namespace pair_sums

/// The function for plain C++.
struct PlainPairSums {
  /// Computes `words` > 0 times 2 elements.
  static void add(const std::int16_t* a, const std::int16_t* b, std::int16_t* output,
                  std::int32_t words, const PairSum& p) {
    pair_sums::add(a, b, output, words * pair_sums::kAtATime, p);
  }
};

/// Computes one call: the body of a kernel's function, which has no call more for it. `Sums` has the function of
/// PlainPairSums.
template <typename Sums>
[[gnu::always_inline]] inline Error compute_add_pairs_int16(const void* args, const Bases& bases) {
  const auto& call = *static_cast<const payload::AddPairsInt16Args*>(args);
  const payload::ActivationInt16& limits = call.activation;
  const PairSum p = {call.factor,
                     call.multiplier,
                     call.unit,
                     call.output_multiplier,
                     call.output_unit,
                     limits.max != 32767    ? pair_sums::kAnyLimits
                     : limits.min == -32768 ? pair_sums::kNoLimits
                     : limits.min == 0      ? pair_sums::kNotNegative
                                            : pair_sums::kAnyLimits,
                     repeated<std::int16_t>(limits.min),
                     repeated<std::int16_t>(limits.max)};
  const auto* a = bases.resolve<const std::int16_t>(call.input1);
  const auto* b = bases.resolve<const std::int16_t>(call.input2);
  auto* output = bases.resolve<std::int16_t>(call.output);
  const std::int32_t words = call.count / pair_sums::kAtATime;
  if (words != 0) {
    Sums::add(a, b, output, words, p);
  }
  const std::int32_t done = words * pair_sums::kAtATime;
  pair_sums::add(a + done, b + done, output + done, call.count - done, p);
  return Error::Ok;
}

/// Returns the kernel whose `run` calls compute_add_pairs_int16(). The output may be an input: elements are read before
/// they are written.
constexpr Kernel add_pairs_int16_kernel(Kernel::Run run) {
  return Kernel(operators::kAddPairsInt16, run).in_place().only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
