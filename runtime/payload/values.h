// The checks that ranges of single fields cannot express; operators and parameter blocks name them
// as `values`.
#pragma once

#include <cstdint>

#include "runtime/payload/call_check.h"

namespace cmsis_nn_delegate::values {

/// `Limits` is payload::Activation or PackedActivation.
template <typename Limits>
bool activation(const CallCheck& call, const Limits& limits) {
  return call.require(
      bounds::in_range(limits.min, -128, 127) && bounds::in_range(limits.max, limits.min, 127),
      "activation limits out of range");
}

inline bool activation_int16(const CallCheck& call, std::int32_t min, std::int32_t max) {
  return call.require(
      bounds::in_range(min, INT16_MIN, INT16_MAX) && bounds::in_range(max, min, INT16_MAX),
      "activation limits out of range");
}

inline bool activation(const CallCheck& call, const payload::ActivationInt16& limits) {
  return activation_int16(call, limits.min, limits.max);
}

inline bool activation(const CallCheck& call, const payload::PackedActivationInt16& limits) {
  return activation_int16(call, limits.min, limits.max);
}

/// Not inlined: layers have several gates.
[[gnu::noinline]] inline bool gate(const CallCheck& call, const payload::Gate& gate) {
  const auto fits = [](std::int32_t multiplier, std::int32_t shift) {
    return multiplier >= 0 && bounds::in_range(shift, payload::kMinShift, payload::kMaxShift);
  };
  return call.in_ranges(fits(gate.input_multiplier, gate.input_shift) &&
                        fits(gate.recurrent_multiplier, gate.recurrent_shift));
}

/// The smallest difference that still counts must not overflow when it is scaled to Q5.26.
template <typename Args>
bool softmax(const CallCheck& call, const Args& args) {
  return call.require(
      bounds::in_range(args.diff_min, -(payload::kMaxSoftmaxDifference >> args.shift), 0),
      "diff_min out of range");
}

/// The farthest element that still counts has less than 26 octaves, in steps of 2^-16.
template <typename Args>
bool powers(const CallCheck& call, const Args& args) {
  const std::int64_t octaves = static_cast<std::int64_t>(args.multiplier) * args.reach;
  const std::int64_t half = (std::int64_t{1} << args.shift) >> 1;
  return call.require(octaves + half < std::int64_t{26 << 16} << args.shift, "reach out of range");
}

/// The biases of 64 bits, and the shifts for sums of these.
template <typename Args>
bool long_sums(const CallCheck& call, const Args& args) {
  const auto* biases = reinterpret_cast<const std::int64_t*>(call.constant(args.bias));
  const std::int32_t* shifts = call.constant(args.shift);
  constexpr std::int64_t kLimit = std::int64_t{1} << 46;
  for (std::int32_t i = 0; i < args.output_dims.c; ++i) {
    if (biases[i] <= -kLimit || biases[i] >= kLimit || shifts[i] > 14) {
      return call.require(false, "a bias of 64 bits or its shift is out of range");
    }
  }
  return true;
}

/// Which bins of a spectrum each band has, and how many weights all of them have together.
template <typename Args>
bool log_mel(const CallCheck& call, const Args& args) {
  const auto* first_bins = reinterpret_cast<const std::int16_t*>(call.constant(args.first_bins));
  const auto* bin_counts = reinterpret_cast<const std::int16_t*>(call.constant(args.bin_counts));
  const std::int32_t bins = args.fft_length / 2 + 1;
  std::int64_t taps = 0;
  for (std::int32_t band = 0; band < args.bands; ++band) {
    const std::int32_t first = first_bins[band];
    const std::int32_t count = bin_counts[band];
    if (first < 0 || count < 0 || first + count > bins) {
      return call.require(false, "a band has bins that the spectrum lacks");
    }
    taps += count;
  }
  return call.require(taps <= args.taps, "bands have more bins than there are weights");
}

}  // namespace cmsis_nn_delegate::values
