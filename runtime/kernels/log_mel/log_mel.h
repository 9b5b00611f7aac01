// Logarithms of the energies of sound in bands of frequencies, in plain C++.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/kernels/common/logarithm.h"
#include "runtime/kernels/common/square_root.h"
#include "runtime/kernels/log_mel/spectrum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Of energies, to the right: sums of them times weights then stay below 2^63.
inline constexpr int kEnergyShift = 12;
/// Of the factor to steps of the output, after the point.
inline constexpr int kStepBits = 16;

/// What became of a bin, in the place of its spectrum.
inline Complex stored(std::uint64_t energy) {
  return {static_cast<std::int32_t>(energy), static_cast<std::int32_t>(energy >> 32)};
}

inline std::uint64_t energy_of(Complex stored) {
  return std::uint64_t{static_cast<std::uint32_t>(stored.imaginary)} << 32 |
         static_cast<std::uint32_t>(stored.real);
}

/// The transform of a frame, and one bin more.
template <typename Args>
std::uint32_t log_mel_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  return static_cast<std::uint32_t>(sizeof(Complex)) *
         (static_cast<std::uint32_t>(a.fft_length) / 2 + 1);
}

/// The square root, rounded down to 16 bits that count.
inline std::uint64_t rough_square_root(std::uint64_t number) {
  const int bits = 64 - __builtin_clzll(number | 1);
  const int shift = bits > 32 ? (bits - 31) / 2 : 0;
  const std::uint32_t root = square_root(static_cast<std::uint32_t>(number >> (2 * shift)));
  return std::uint64_t{root} << shift;
}

/// Writes a frame times its window, and zeros behind it, as complex numbers where `transform`
/// takes them.
template <typename Args>
void place_frame(const Args& a, const std::int16_t* samples, const std::int16_t* window,
                 Complex* numbers) {
  const std::int32_t half = a.fft_length / 2;
  std::int32_t place = 0;
  for (std::int32_t i = 0; i < a.fft_length; i += 2) {
    numbers[place] = {i < a.frame_length ? samples[i] * window[i] : 0,
                      i + 1 < a.frame_length ? samples[i + 1] * window[i + 1] : 0};
    std::int32_t bit = half >> 1;
    for (; (place & bit) != 0; bit >>= 1) {
      place ^= bit;
    }
    place |= bit;
  }
}

template <typename Element, typename Args>
Error compute_log_mel(const Args& a, const Bases& bases) {
  const auto* input = bases.resolve<const std::int16_t>(a.input);
  const auto* window = bases.resolve<const std::int16_t>(a.window);
  const auto* factors = bases.resolve<const Factor>(a.factors);
  const auto* first_bins = bases.resolve<const std::int16_t>(a.first_bins);
  const auto* bin_counts = bases.resolve<const std::int16_t>(a.bin_counts);
  const auto* weights = bases.resolve<const std::int16_t>(a.weights);
  const auto* floors = bases.resolve<const std::uint64_t>(a.floors);
  const auto* offsets = bases.resolve<const std::int32_t>(a.offsets);
  auto* output = bases.resolve<Element>(a.output);
  auto* bins = bases.resolve<Complex>(a.scratch);
  const std::int32_t half = a.fft_length / 2;
  const std::int32_t power = a.power;
  const auto put = [bins, power](std::int32_t k, Complex z) {
    const std::uint64_t energy =
        static_cast<std::uint64_t>(std::int64_t{z.real} * z.real) +
        static_cast<std::uint64_t>(std::int64_t{z.imaginary} * z.imaginary);
    bins[k] = stored(power == 2 ? energy >> kEnergyShift : rough_square_root(energy));
  };

  for (std::int32_t batch = 0; batch < a.batch; ++batch, input += a.samples) {
    const std::int16_t* frame = input;
    for (std::int32_t t = 0; t < a.frames; ++t, frame += a.hop) {
      place_frame(a, frame, window, bins);
      transform(bins, half, factors);
      for_each_bin(bins, half, factors, put);
      const std::int16_t* weight = weights;
      for (std::int32_t band = 0; band < a.bands; ++band) {
        const Complex* bin = bins + first_bins[band];
        std::uint64_t sum = floors[band];
        for (std::int32_t i = bin_counts[band]; i > 0; --i) {
          sum += energy_of(*bin++) * static_cast<std::uint16_t>(*weight++);
        }
        // Sums of a damaged payload may wrap around to 0.
        const std::int64_t logarithm = std::int64_t{log2_of(sum == 0 ? 1 : sum, 0)} + offsets[band];
        constexpr int kShift = kLogBits + kStepBits;
        constexpr std::int64_t kHalf = std::int64_t{1} << (kShift - 1);
        const std::int64_t value = ((logarithm * a.step + kHalf) >> kShift) + a.output_offset;
        using Limits = std::numeric_limits<Element>;
        *output++ = static_cast<Element>(value < Limits::min()   ? Limits::min()
                                         : value > Limits::max() ? Limits::max()
                                                                 : value);
      }
    }
  }
  return Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
