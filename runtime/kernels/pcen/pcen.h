// Energies of sound normalized by their means, in plain C++. The formulas are those of
// docs/reference/sound.md.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/logarithm.h"
#include "runtime/kernels/common/powers.h"
#include "runtime/kernels/common/recurrent.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// x / 2^bits, halves up, for at least 1 bit.
inline std::int64_t wide_half_up(std::int64_t x, int bits) {
  return (x + (std::int64_t{1} << (bits - 1))) >> bits;
}

/// The logarithm of a mean after a frame of the logarithm `x`, for one of `mean` before. Damaged payloads may have any
/// `rate`.
inline std::int32_t next_mean(std::int32_t mean, std::int32_t x, std::int32_t rate,
                              std::int32_t step, std::int32_t inverse) {
  constexpr int kRateBits = 30;
  if (mean != 0) {
    const bool louder = x >= mean;
    const std::int32_t distance = louder ? x - mean : mean - x;
    const std::uint64_t power = long_negative_power(
        static_cast<std::uint32_t>(wide_half_up(std::int64_t{distance} * step, 16)));
    const auto mine = static_cast<std::uint64_t>(rate);
    const std::uint64_t rest = (std::uint64_t{1} << kRateBits) - mine;
    const std::uint64_t sum =
        ((louder ? mine : rest) << kPowerBits) + (louder ? rest : mine) * power;
    const std::int64_t part = log2_of(sum == 0 ? 1 : sum, kRateBits + kPowerBits);
    x = saturate_16((louder ? x : mean) +
                    static_cast<std::int32_t>(wide_half_up(part * inverse, 32)));
  }
  return x == 0 ? 1 : x;
}

/// The power with exponent `root` of what has these octaves, in 2^-8 of a step of the output.
inline std::int64_t root_of(std::int64_t octaves, std::int32_t root, std::int32_t unit) {
  return static_cast<std::int64_t>(whole_power(wide_half_up(octaves * root, 20) + unit));
}

template <typename Element, typename Args>
Error compute_pcen(const Args& a, const Bases& bases) {
  const auto* input = bases.resolve<const std::int16_t>(a.input);
  const auto* initial = bases.resolve<const std::int16_t>(a.initial_state);
  const auto* rates = bases.resolve<const std::int32_t>(a.rates);
  const auto* strengths = bases.resolve<const std::int32_t>(a.strengths);
  const auto* biases = bases.resolve<const std::int32_t>(a.biases);
  const auto* roots = bases.resolve<const std::int32_t>(a.roots);
  auto* output = bases.resolve<Element>(a.output);
  auto* state = bases.resolve<std::int16_t>(a.last_state);
  const std::int32_t bands = a.bands;
  const std::int32_t step = a.step;
  const std::int32_t unit = a.unit;

  for (std::int32_t batch = 0; batch < a.batch; ++batch, initial += bands, state += bands) {
    std::memcpy(state, initial, static_cast<std::size_t>(bands) * sizeof(*state));
    for (std::int32_t t = 0; t < a.frames; ++t) {
      for (std::int32_t band = 0; band < bands; ++band) {
        const std::int32_t x = *input++;
        const std::int32_t mean = next_mean(state[band], x, rates[band], step, a.inverse);
        state[band] = static_cast<std::int16_t>(mean);
        const std::int64_t octaves =
            wide_half_up(std::int64_t{x} * step - std::int64_t{mean} * strengths[band], 16);
        const std::int64_t bias = biases[band];
        const bool above = octaves >= bias;
        const std::int64_t ratio = above ? octaves - bias : bias - octaves;
        // Of the sum with delta than of the greater one.
        const std::int32_t more =
            log2_of((std::uint64_t{1} << kPowerBits) +
                        long_negative_power(static_cast<std::uint32_t>(ratio)),
                    kPowerBits);
        const std::int64_t biased = (above ? octaves : bias) + wide_half_up(more, kLogBits - 16);
        const std::int64_t steps =
            root_of(biased, roots[band], unit) - root_of(bias, roots[band], unit);
        *output++ = saturate_to<Element>(static_cast<std::int32_t>(wide_half_up(steps, 8)) +
                                         a.output_offset);
      }
    }
  }
  return Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
