// What the depthwise convolution by planes does in its inner loops, in plain C++. Assembly for an
// instruction set has the same functions (channel_planes_dsp.h).
//
// A plane holds one channel of some rows of an image as int16, two neighbouring columns in a word.
// Planes of four channels lie together: columns are the outer dimension, then channels, then rows.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/depthwise_3x3.h"
#include "runtime/kernels/common/pair_products.h"

namespace cmsis_nn_delegate::portable {

/// How the pixels of one row lie in planes.
struct PlaneRow {
  std::int32_t pixel_bytes;    // from a pixel of the image to the next one of the row
  std::int32_t channel_bytes;  // from a plane to that of the next channel
  std::uint32_t padding;       // the zero point, as often as a word has room for it
  std::int32_t first;          // 1: the first pixel shares a word with padding, else 0
  std::int32_t pairs;          // pairs of pixels after it
  std::int32_t last;           // 1: one pixel more, which shares a word with padding, else 0
};

/// Two rows of outputs of up to four channels. `table` has for each channel: two words with the
/// weights 0, 1, 1, 2 of a row of the filter; one with the weights 0, 1, 2 of the last row and the
/// byte that PlaneScale reads; the sum for inputs of 0; the multiplier.
template <typename Element>
struct PlaneRowsOf {
  std::int32_t* planes;  // of the first channel
  Element* output;       // the first result of the first channel
  const std::int32_t* table;
  std::int32_t channels;      // >= 1
  std::int32_t column_bytes;  // from an output to the next one of the row
  std::int32_t row_bytes;     // from the first row of outputs to the second; 0: there is only one
  std::int32_t pairs_bytes;   // of the columns in which pairs of outputs begin
  std::int32_t last;          // 1: after the pairs a single output, else 0
  std::int32_t limited;       // 0: `least` and `most` are the limits of the element
  // The limits of results, as often as a word has room for them.
  std::uint32_t least;
  std::uint32_t most;
  std::int32_t half_steps;  // the zero point of the output and a half, in halves
};

using PlaneRows = PlaneRowsOf<std::int8_t>;

namespace channel_planes {

using depthwise_3x3::kTaps;

inline constexpr std::int32_t kChannels = 4;  // of a group of planes
inline constexpr std::int32_t kRowsAtATime = 2;
inline constexpr std::int32_t kWords = 5;  // of a channel in a table

/// How a channel is requantized, which follows from one byte and the zero point: see requantization.py
/// in aot/cmsis_nn_delegate/providers/tuned. Bits 0 to 4 are the shift; bit 5: the form is FLOOR; bit 6: its
/// correction has no half step of the first rounding, because the scale is 1/2 or more.
struct PlaneScale {
  PlaneScale(const std::int32_t* table, std::int32_t half_steps)
      : PlaneScale((table[2] >> 24) & 0xFF, table[4], half_steps) {}
  PlaneScale(std::int32_t byte, std::int32_t multiplier, std::int32_t half_steps)
      : floor_((byte & kFloor) != 0) {
    words[0] = byte & 31;
    words[1] = multiplier;
    // FLOOR is for a zero point of -128; both roundings add a half.
    words[2] = floor_ ? wrapping_add(pair_products::shift_left(1, byte - kFloor - 2),
                                     (1 << 11) - (128 << 12))
                      : pair_products::shift_left(half_steps, wrapping_sub(words[0], 1));
  }

  std::int32_t requantize(std::int32_t sum) const {
    return floor_ ? pair_products::Floor::requantize(sum, words)
                  : pair_products::Any::requantize(sum, words);
  }

  std::int32_t words[pair_products::kScales];  // shift, multiplier, correction

 private:
  static constexpr std::int32_t kFloor = 1 << 5;

  bool floor_;
};

/// Rows of inputs for two rows of outputs.
constexpr std::int32_t rows(std::int32_t stride) { return kTaps + stride; }

inline std::int32_t pair(std::int32_t low, std::int32_t high) {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(low) & 0xFFFF) |
                                   static_cast<std::uint32_t>(high) << 16);
}

/// Puts a row of `channels` <= 4 channels into their planes, of which a column has `column_words` words.
template <typename Element>
void fill(const Element* row, std::int32_t* planes, const PlaneRow& p, std::int32_t channels,
          std::int32_t column_words) {
  const auto padding = static_cast<Element>(p.padding & ((1u << 8 * sizeof(Element)) - 1));
  const std::int32_t step = p.channel_bytes / 4;
  const std::int32_t pixel = p.pixel_bytes / static_cast<std::int32_t>(sizeof(Element));
  const auto put = [&](const Element* left, const Element* right) {
    for (std::int32_t i = 0; i < channels; ++i) {
      planes[i * step] =
          pair(left != nullptr ? left[i] : padding, right != nullptr ? right[i] : padding);
    }
    planes += column_words;
  };
  if (p.first != 0) {
    put(nullptr, row);
    row += pixel;
  }
  for (std::int32_t i = 0; i < p.pairs; ++i, row += 2 * pixel) {
    put(row, row + pixel);
  }
  if (p.last != 0) {
    put(row, nullptr);
  }
}

/// The same where planes of four channels lie together.
template <typename Element>
void fill(const Element* row, std::int32_t* planes, const PlaneRow& p, std::int32_t channels) {
  fill(row, planes, p, channels, kChannels * (p.channel_bytes / 4));
}

/// The sum of one window whose first column is column `x` of the word at `column`.
inline std::int32_t sum(const std::int32_t* column, std::int32_t x, std::int32_t row,
                        std::int32_t column_words, const std::int32_t* table) {
  auto total = static_cast<std::uint32_t>(table[3]);
  for (std::int32_t ky = 0; ky < kTaps; ++ky) {
    std::int8_t weights[4];
    std::memcpy(weights, table + ky, sizeof(weights));
    const std::int32_t left = column[row + ky];
    const std::int32_t right = column[column_words + row + ky];
    const std::int32_t last = weights[ky == kTaps - 1 ? 2 : 3];
    const std::int32_t products = x == 0 ? pair_products::low_half(left) * weights[0] +
                                               pair_products::high_half(left) * weights[1] +
                                               pair_products::low_half(right) * last
                                         : pair_products::high_half(left) * weights[0] +
                                               pair_products::low_half(right) * weights[1] +
                                               pair_products::high_half(right) * last;
    total += static_cast<std::uint32_t>(products);
  }
  return static_cast<std::int32_t>(total);
}

/// Computes two rows of outputs, and moves the rows of inputs that the next two need to the front.
/// `Scale` is PlaneScale or what else has its functions.
template <std::int32_t kStride, typename Scale, typename Element>
void filter(const PlaneRowsOf<Element>& p) {
  constexpr std::int32_t kRows = rows(kStride);
  constexpr std::int32_t kColumn = kChannels * kRows;  // words
  constexpr std::int32_t kKept = kTaps - kStride;
  constexpr std::uint32_t kMask = (1u << 8 * sizeof(Element)) - 1;
  constexpr auto kBytes = static_cast<std::int32_t>(sizeof(Element));
  const auto least = static_cast<Element>(p.least & kMask);
  const auto most = static_cast<Element>(p.most & kMask);
  const std::int32_t pairs = p.pairs_bytes / (kStride * kColumn * 4);
  const std::int32_t outputs = 2 * pairs + p.last;
  const std::int32_t* table = p.table;
  for (std::int32_t channel = 0; channel < p.channels; ++channel, table += kWords) {
    std::int32_t* const plane = p.planes + channel * kRows;
    const Scale scale(table, p.half_steps);
    for (std::int32_t y = 0; y < (p.row_bytes != 0 ? kRowsAtATime : 1); ++y) {
      for (std::int32_t x = 0; x < outputs; ++x) {
        const std::int32_t* column = plane + x * kStride / 2 * kColumn;
        const std::int32_t total = sum(column, x * kStride % 2, y * kStride, kColumn, table);
        const std::int32_t value = scale.requantize(total);
        p.output[channel + (y * p.row_bytes + x * p.column_bytes) / kBytes] =
            static_cast<Element>(value < least  ? least
                                 : value > most ? most
                                                : value);
      }
    }
    const std::int32_t columns = (pairs + p.last) * kStride + 1;
    for (std::int32_t i = 0; i < columns; ++i) {
      for (std::int32_t row = 0; row < kKept; ++row) {
        plane[i * kColumn + row] = plane[i * kColumn + kRows - kKept + row];
      }
    }
  }
}

}  // namespace channel_planes

/// The functions for plain C++.
struct PlainChannelPlanes {
  using Element = std::int8_t;

  static void fill(const std::int8_t* row, std::int32_t* planes, const PlaneRow& p) {
    channel_planes::fill(row, planes, p, channel_planes::kChannels);
  }
  static void filter_stride1(const PlaneRows& rows) {
    channel_planes::filter<1, channel_planes::PlaneScale>(rows);
  }
  static void filter_stride2(const PlaneRows& rows) {
    channel_planes::filter<2, channel_planes::PlaneScale>(rows);
  }
};

}  // namespace cmsis_nn_delegate::portable
