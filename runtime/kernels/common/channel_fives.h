// What the depthwise convolution of up to 5 x 5 taps does in its inner loops, in plain C++. Assembly for an instruction set
// has the same functions (channel_fives_dsp.h).
//
// A plane is one channel of some rows of an image, with their padding: int16, two neighbouring columns in a word, row after
// row. Planes of four channels lie one after the other.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_planes.h"

namespace cmsis_nn_delegate::portable {

/// Some rows of outputs of up to four channels. Steps between outputs are in bytes. `table` has for each channel: the bytes of its weights, five for each row of
/// the filter, up to a whole word, of which the last byte has what PlaneScale reads; the sum for inputs of 0; the multiplier.
template <typename Element>
struct ChannelBandOf {
  const std::int32_t* planes;  // of the first channel
  Element* output;             // the first result of the first channel
  const std::int32_t* table;
  std::int32_t channels;      // >= 1
  std::int32_t plane_bytes;   // from a plane to that of the next channel
  std::int32_t rows;          // of outputs, >= 1
  std::int32_t row_bytes;     // from a row of outputs to the next one
  std::int32_t outputs;       // of a row, >= 1
  std::int32_t column_bytes;  // from an output to the next one of the row
  std::int32_t taps;          // rows of the filter, 1 to kTaps
  std::int32_t line_bytes;    // of a row of a plane
  std::int32_t* weights;      // room for kWeightWords
  std::int32_t limited;       // 0: `least` and `most` are the limits of the element
  // The limits of results, as often as a word has room for them.
  std::uint32_t least;
  std::uint32_t most;
  std::int32_t half_steps;  // the zero point of the output and a half, in halves
};

using ChannelBand = ChannelBandOf<std::int8_t>;

namespace channel_fives {

using channel_planes::kChannels;  // of a group of planes

inline constexpr std::int32_t kTaps = 5;      // columns of a filter, and the most rows
inline constexpr std::int32_t kOutputs = 4;   // at a time
inline constexpr std::int32_t kEndWords = 2;  // of a channel in the table, behind its weights
// Three pairs of weights a row, (0, 1), (2, 3), (4, -), and with stride 1 three more for outputs in odd columns, (-, 0), (1, 2),
// (3, 4); a multiple of 16 bytes.
inline constexpr std::int32_t kWeightWords = 32;

/// Words of the weights of a channel in the table, with the byte behind them.
constexpr std::int32_t weight_words(std::int32_t taps) { return (kTaps * taps + 4) / 4; }

/// Words of a row of a plane for `outputs` outputs, which are rounded up to fours.
constexpr std::int32_t line_words(std::int32_t outputs, std::int32_t stride) {
  return (outputs + kOutputs - 1) / kOutputs * 2 * stride + 2;
}

/// Puts a row of `channels` <= 4 channels into their planes.
template <typename Element>
void fill(const Element* row, std::int32_t* planes, const PlaneRow& p, std::int32_t channels) {
  channel_planes::fill(row, planes, p, channels, 1);
}

/// `Scale` is channel_planes::PlaneScale or what else has its functions.
template <std::int32_t kStride, typename Scale, typename Element>
void filter(const ChannelBandOf<Element>& p) {
  constexpr std::uint32_t kMask = (1u << 8 * sizeof(Element)) - 1;
  constexpr auto kBytes = static_cast<std::int32_t>(sizeof(Element));
  const auto least = static_cast<Element>(p.least & kMask);
  const auto most = static_cast<Element>(p.most & kMask);
  const std::int32_t words = weight_words(p.taps);
  const std::int32_t* table = p.table;
  for (std::int32_t channel = 0; channel < p.channels; ++channel, table += words + kEndWords) {
    const std::int32_t* const plane = p.planes + channel * (p.plane_bytes / 4);
    const Scale scale((table[words - 1] >> 24) & 0xFF, table[words + 1], p.half_steps);
    for (std::int32_t y = 0; y < p.rows; ++y) {
      for (std::int32_t x = 0; x < p.outputs; ++x) {
        auto sum = static_cast<std::uint32_t>(table[words]);
        for (std::int32_t i = 0; i < kTaps * p.taps; ++i) {
          const auto weight = static_cast<std::int8_t>(table[i / 4] >> 8 * (i % 4) & 0xFF);
          const std::int32_t column = x * kStride + i % kTaps;
          const std::int32_t word =
              plane[(y * kStride + i / kTaps) * (p.line_bytes / 4) + column / 2];
          sum += static_cast<std::uint32_t>(weight * (column % 2 == 0
                                                          ? pair_products::low_half(word)
                                                          : pair_products::high_half(word)));
        }
        const std::int32_t value = scale.requantize(static_cast<std::int32_t>(sum));
        p.output[channel + (y * p.row_bytes + x * p.column_bytes) / kBytes] =
            static_cast<Element>(value < least  ? least
                                 : value > most ? most
                                                : value);
      }
    }
  }
}

}  // namespace channel_fives

/// The functions for plain C++.
struct PlainChannelFives {
  using Element = std::int8_t;

  static void fill(const std::int8_t* row, std::int32_t* planes, const PlaneRow& p) {
    channel_fives::fill(row, planes, p, channel_fives::kChannels);
  }
  static void filter_stride1(const ChannelBand& band) {
    channel_fives::filter<1, channel_planes::PlaneScale>(band);
  }
  static void filter_stride2(const ChannelBand& band) {
    channel_fives::filter<2, channel_planes::PlaneScale>(band);
  }
};

}  // namespace cmsis_nn_delegate::portable
