// The mean of a window of pixels, for the kernels of average pooling.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"

namespace cmsis_nn_delegate::portable {

/// How many channels are summed at once; their sums stay on the stack.
constexpr std::int32_t kAveragedAtOnce = 16;

/// Writes the mean of `rows` * `columns` >= 1 pixels of `channels` each to `output`, halves away from zero. The rows
/// begin `row_step` elements apart.
template <typename Element, typename Limits>
inline void average(const Element* pixels, std::int32_t rows, std::int32_t columns,
                    std::int32_t row_step, std::int32_t channels, const Limits& activation,
                    Element* output) {
  const std::int32_t count = rows * columns;
  for (std::int32_t channel = 0; channel < channels; channel += kAveragedAtOnce) {
    const std::int32_t left = channels - channel;
    const std::int32_t block = left < kAveragedAtOnce ? left : kAveragedAtOnce;
    std::int32_t sum[kAveragedAtOnce] = {};
    for (std::int32_t row = 0; row < rows; ++row) {
      const Element* v = pixels + row * row_step + channel;
      for (std::int32_t column = 0; column < columns; ++column, v += channels) {
        for (std::int32_t i = 0; i < block; ++i) {
          sum[i] = wrapping_add(sum[i], v[i]);
        }
      }
    }
    for (std::int32_t i = 0; i < block; ++i) {
      const std::int32_t half = count / 2;
      const std::int32_t rounded =
          sum[i] > 0 ? wrapping_add(sum[i], half) : wrapping_sub(sum[i], half);
      *output++ = clamp_to<Element>(rounded / count, activation);
    }
  }
}

}  // namespace cmsis_nn_delegate::portable
