// The mean of a window of pixels, for the kernels of average pooling.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/reciprocal.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"

namespace cmsis_nn_delegate::portable {

/// How many channels are summed at once; their sums stay on the stack.
constexpr std::int32_t kAveragedAtOnce = 16;

#if CMSIS_NN_DELEGATE_VECTORS || CMSIS_NN_DELEGATE_WORDS
/// Pixels whose mean is computed: the arguments of average().
template <typename Element>
struct Window {
  const Element* pixels;
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t row_step;
  std::int32_t channels;
};

/// Calls visit() with where each pixel begins.
template <typename Element, typename Visit>
inline void for_each_pixel(const Window<Element>& window, std::int32_t channel, Visit visit) {
  const Element* row = window.pixels + channel;
  for (std::int32_t rows = window.rows; rows > 0; --rows, row += window.row_step) {
    const Element* pixel = row;
    for (std::int32_t columns = window.columns; columns > 0; --columns) {
      visit(pixel);
      pixel += window.channels;
    }
  }
}

// Sums of as many bytes have 16 bits.
constexpr std::int32_t kMostShortSums = 256;
#endif

#if CMSIS_NN_DELEGATE_WORDS
/// The means of four sums of bytes in the order of these: reciprocal.h says how. Bits 8 to 15 of the products are them.
inline std::uint32_t four_means(const FourSums& sums, std::int32_t reciprocal) {
  constexpr std::uint32_t kHalves = 0x00800080;
  const auto products = [=](std::int32_t two) {
    const auto lower = static_cast<std::uint32_t>(times_lower_half(reciprocal, two));
    const auto upper = static_cast<std::uint32_t>(times_upper_half(reciprocal, two));
    return __uadd16(lower_halves(lower, upper), kHalves);
  };
  return (products(sums.even) >> 8 & 0x00FF00FF) | (products(sums.odd) & 0xFF00FF00);
}

/// average() of at most kMostShortSums pixels of bytes, eight or four channels at a time. Returns how many channels it
/// has done.
template <typename Limits>
inline std::int32_t average_words(const Window<std::int8_t>& window, const Limits& activation,
                                  std::int8_t* output) {
  const std::int32_t reciprocal = reciprocal_of(window.rows * window.columns);
  const std::uint32_t least = repeated<std::int8_t>(activation.min);
  const std::uint32_t most = repeated<std::int8_t>(activation.max);
  std::int32_t channel = 0;
  for (; channel + 8 <= window.channels; channel += 8) {
    FourSums first;
    FourSums second;
    for_each_pixel(window, channel, [&](const std::int8_t* pixel) {
      first.add(pixel);
      second.add(pixel + 4);
    });
    store_word(output + channel, limit_four(four_means(first, reciprocal), least, most));
    store_word(output + channel + 4, limit_four(four_means(second, reciprocal), least, most));
  }
  for (; channel + 4 <= window.channels; channel += 4) {
    FourSums sums;
    for_each_pixel(window, channel, [&](const std::int8_t* pixel) { sums.add(pixel); });
    store_word(output + channel, limit_four(four_means(sums, reciprocal), least, most));
  }
  return channel;
}
#endif

#if CMSIS_NN_DELEGATE_VECTORS
/// average() of at most kMostShortSums pixels of bytes.
template <typename Limits>
inline void average_bytes(Window<std::int8_t> window, const Limits& activation,
                          std::int8_t* output) {
  const std::int32_t reciprocal = reciprocal_of(window.rows * window.columns);
  // The reciprocal in two parts, whose products may wrap around: bits 8 to 15 of their sum are the mean.
  const auto low = static_cast<std::int16_t>(reciprocal & 0xFFFF);
  const auto high = static_cast<std::int16_t>((reciprocal - low) >> 16);
  // Limits are those of bytes, because a mean of -128 may come as 128.
  const int8x16_t least = vdupq_n_s8(static_cast<std::int8_t>(activation.min));
  const int8x16_t most = vdupq_n_s8(static_cast<std::int8_t>(activation.max));
  const auto means = [=](int16x8_t sums) {
    const int16x8_t product = vmlaq_n_s16(vmulhq_s16(sums, vdupq_n_s16(low)), sums, high);
    const int8x16_t bytes = vreinterpretq_s8_s16(vrshrq_n_s16(product, 8));
    return vreinterpretq_s16_s8(vminq_s8(vmaxq_s8(bytes, least), most));
  };
  std::int32_t channel = 0;
  for (; channel + 32 <= window.channels; channel += 32) {
    int16x8_t first = vdupq_n_s16(0);
    int16x8_t second = first;
    int16x8_t third = first;
    int16x8_t fourth = first;
    for_each_pixel(window, channel, [&](const std::int8_t* pixel) {
      first = vaddq_s16(first, vldrbq_s16(pixel));
      second = vaddq_s16(second, vldrbq_s16(pixel + 8));
      third = vaddq_s16(third, vldrbq_s16(pixel + 16));
      fourth = vaddq_s16(fourth, vldrbq_s16(pixel + 24));
    });
    vstrbq_s16(output + channel, means(first));
    vstrbq_s16(output + channel + 8, means(second));
    vstrbq_s16(output + channel + 16, means(third));
    vstrbq_s16(output + channel + 24, means(fourth));
  }
  for (; channel + 16 <= window.channels; channel += 16) {
    int16x8_t first = vdupq_n_s16(0);
    int16x8_t second = first;
    for_each_pixel(window, channel, [&](const std::int8_t* pixel) {
      first = vaddq_s16(first, vldrbq_s16(pixel));
      second = vaddq_s16(second, vldrbq_s16(pixel + 8));
    });
    vstrbq_s16(output + channel, means(first));
    vstrbq_s16(output + channel + 8, means(second));
  }
  for (; channel < window.channels; channel += 8) {
    const mve_pred16_t lanes = vctp16q(static_cast<std::uint32_t>(window.channels - channel));
    int16x8_t sums = vdupq_n_s16(0);
    for_each_pixel(window, channel, [&](const std::int8_t* pixel) {
      sums = vaddq_s16(sums, vldrbq_z_s16(pixel, lanes));
    });
    vstrbq_p_s16(output + channel, means(sums), lanes);
  }
}

/// average() of pixels of halfwords.
template <typename Limits>
inline void average_halfwords(Window<std::int16_t> window, const Limits& activation,
                              std::int16_t* output) {
  const std::int32_t count = window.rows * window.columns;
  const std::int32_t half = count / 2;
  const int32x4_t least = vdupq_n_s32(activation.min);
  const int32x4_t most = vdupq_n_s32(activation.max);
  const auto means = [=](int32x4_t sums) {
    const int32x4_t up = vaddq_n_s32(sums, half);
    const int32x4_t n = vsubq_m_n_s32(up, sums, half, vcmpleq_n_s32(sums, 0));
    int32x4_t quotients = vdupq_n_s32(vgetq_lane_s32(n, 0) / count);
    quotients = vsetq_lane_s32(vgetq_lane_s32(n, 1) / count, quotients, 1);
    quotients = vsetq_lane_s32(vgetq_lane_s32(n, 2) / count, quotients, 2);
    quotients = vsetq_lane_s32(vgetq_lane_s32(n, 3) / count, quotients, 3);
    return vminq_s32(vmaxq_s32(quotients, least), most);
  };
  std::int32_t channel = 0;
  for (; channel + 16 <= window.channels; channel += 16) {
    int32x4_t first = vdupq_n_s32(0);
    int32x4_t second = first;
    int32x4_t third = first;
    int32x4_t fourth = first;
    for_each_pixel(window, channel, [&](const std::int16_t* pixel) {
      first = vaddq_s32(first, load_four(pixel));
      second = vaddq_s32(second, load_four(pixel + 4));
      third = vaddq_s32(third, load_four(pixel + 8));
      fourth = vaddq_s32(fourth, load_four(pixel + 12));
    });
    store_four(output + channel, means(first));
    store_four(output + channel + 4, means(second));
    store_four(output + channel + 8, means(third));
    store_four(output + channel + 12, means(fourth));
  }
  for_fours(window.channels - channel, [&](std::int32_t i, auto... lanes) {
    int32x4_t sums = vdupq_n_s32(0);
    for_each_pixel(window, channel + i, [&](const std::int16_t* pixel) {
      sums = vaddq_s32(sums, load_four(pixel, lanes...));
    });
    store_four(output + channel + i, means(sums), lanes...);
  });
}
#endif

/// Writes the mean of `rows` * `columns` >= 1 pixels of `channels` each to `output`, halves away from zero. The rows
/// begin `row_step` elements apart.
template <typename Element, typename Limits>
inline void average(const Element* pixels, std::int32_t rows, std::int32_t columns,
                    std::int32_t row_step, std::int32_t channels, const Limits& activation,
                    Element* output) {
  const std::int32_t count = rows * columns;
#if CMSIS_NN_DELEGATE_VECTORS
  const Window<Element> window = {pixels, rows, columns, row_step, channels};
  if constexpr (sizeof(Element) == 1) {
    if (count <= kMostShortSums) {
      average_bytes(window, activation, output);
      return;
    }
  } else {
    average_halfwords(window, activation, output);
    return;
  }
#endif
  std::int32_t first = 0;
#if CMSIS_NN_DELEGATE_WORDS
  if constexpr (sizeof(Element) == 1) {
    if (count <= kMostShortSums) {
      first =
          average_words<Limits>({pixels, rows, columns, row_step, channels}, activation, output);
      output += first;
    }
  }
#endif
  for (std::int32_t channel = first; channel < channels; channel += kAveragedAtOnce) {
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
