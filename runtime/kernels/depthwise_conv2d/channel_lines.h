// What the depthwise convolution over one axis does in its inner loops, in plain C++. Assembly for an instruction set has
// the same functions (channel_lines_dsp.h).
//
// A line is one row or column of an image, of one channel, with its padding: int16, two neighbours in a word. Lines of four
// channels lie together: pairs are the outer dimension, then channels.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_planes.h"

namespace cmsis_nn_delegate::portable {

/// The outputs of a line of up to four channels. `table` has for each channel: its weights as bytes, the last of which has
/// what PlaneScale reads in the place of a weight; the sum for inputs of 0; the multiplier.
struct ChannelLine {
  std::int32_t* line;   // of the first channel
  std::int8_t* output;  // the first result of the first channel
  const std::int32_t* table;
  std::int32_t channels;      // >= 1
  std::int32_t column_bytes;  // from an output to the next one of the line
  std::int32_t fours_bytes;   // of the pairs in which four outputs begin
  std::int32_t last;          // outputs after these fours, 0 to 3
  std::int32_t limited;       // 0: `least` and `most` are the limits of int8
  // The limits of results, four times.
  std::uint32_t least;
  std::uint32_t most;
  std::int32_t half_steps;  // the zero point of the output and a half, in halves
  std::int32_t pairs;       // of weights, those included that begin before the first one: >= 2
  std::int32_t* weights;    // room for kPairBytes for each pair, and for one more if they are odd
};

namespace channel_lines {

using channel_planes::kChannels;  // of a group of lines

inline constexpr std::int32_t kPairBytes = 8;
inline constexpr std::int32_t kOutputs = 4;   // at a time
inline constexpr std::int32_t kEndWords = 2;  // of a channel in the table, behind its weights

/// Pairs of the weights of `taps` taps: (0, 1), (2, 3) and so on, or, for outputs in odd columns, (-1, 0), (1, 2) and so on.
constexpr std::int32_t pairs_of(std::int32_t taps) { return taps / 2 + 1; }

/// Words of the weights of a channel in the table, with the byte behind them.
constexpr std::int32_t weight_words(std::int32_t pairs) { return (pairs + 1) / 2; }

/// Words of a line for `outputs` outputs, which are rounded up to fours, with what is multiplied by weights of 0.
constexpr std::int32_t line_words(std::int32_t outputs, std::int32_t pairs) {
  return (outputs + kOutputs - 1) / kOutputs * 2 - 1 + 2 * weight_words(pairs);
}

inline std::int32_t at(const std::int32_t* line, std::int32_t x) {
  const std::int32_t word = line[x / 2 * kChannels];
  return x % 2 == 0 ? pair_products::low_half(word) : pair_products::high_half(word);
}

inline void filter(const ChannelLine& p) {
  const auto least = static_cast<std::int8_t>(p.least & 0xFF);
  const auto most = static_cast<std::int8_t>(p.most & 0xFF);
  const std::int32_t outputs =
      p.fours_bytes / (kChannels * 4 * 2) * kOutputs + p.last;  // two words of a line for four
  const std::int32_t words = weight_words(p.pairs);
  const std::int32_t* table = p.table;
  for (std::int32_t channel = 0; channel < p.channels; ++channel, table += words + kEndWords) {
    const std::int32_t* const line = p.line + channel;
    const auto weight = [&](std::int32_t i) {
      return static_cast<std::int8_t>(table[i / 4] >> 8 * (i % 4) & 0xFF);
    };
    const channel_planes::PlaneScale scale((table[words - 1] >> 24) & 0xFF, table[words + 1],
                                           p.half_steps);
    for (std::int32_t x = 0; x < outputs; ++x) {
      auto sum = static_cast<std::uint32_t>(table[words]);
      for (std::int32_t i = 0; i < 4 * words - 1; ++i) {
        sum += static_cast<std::uint32_t>(weight(i) * at(line, x + i));
      }
      const std::int32_t value = scale.requantize(static_cast<std::int32_t>(sum));
      p.output[channel + x * p.column_bytes] = static_cast<std::int8_t>(value < least  ? least
                                                                        : value > most ? most
                                                                                       : value);
    }
  }
}

}  // namespace channel_lines

/// The functions for plain C++.
struct PlainChannelLines {
  static void fill(const std::int8_t* row, std::int32_t* line, const PlaneRow& p) {
    PlainChannelPlanes::fill(row, line, p);
  }
  static void filter(const ChannelLine& line) { channel_lines::filter(line); }
};

}  // namespace cmsis_nn_delegate::portable
