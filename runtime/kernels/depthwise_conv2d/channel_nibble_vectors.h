// What channel_vectors.h does with weights of 4 bits.
#pragma once

#include <cstdint>

#include "runtime/kernels/depthwise_conv2d/channel_vectors.h"

namespace cmsis_nn_delegate::portable {

/// `table` of ChannelVectorRow has for each 8 channels, of which the last ones may have been there before: 8 bytes for
/// each two taps, with the weights of the first in the lower halves and of the second in the upper ones; 8 weights of the
/// last tap; for the even and then for the odd channels 4 words with the shift in the lowest 6 bits and the sum for
/// inputs of 0 in the others, and 4 multipliers.
namespace channel_nibble_vectors {

using channel_vectors::kChannels;
using channel_vectors::kTaps;

inline constexpr std::int32_t kBlockBytes = 104;
constexpr std::uint32_t block_words(std::uint32_t /*taps*/) { return kBlockBytes / 4; }
inline constexpr std::int32_t kScalesAt = (kTaps + 1) / 2 * kChannels;

/// The weight of a tap, from the byte that has it.
inline std::int32_t weight(std::int8_t byte, std::int32_t tap) {
  if (tap == kTaps - 1) {
    return byte;
  }
  const auto bits = static_cast<std::uint8_t>(byte);
  return static_cast<std::int8_t>(tap % 2 == 0 ? bits << 4 : bits & 0xF0) >> 4;
}

inline void compute(const ChannelVectorRow& row) {
  const payload::Activation activation = {row.least, row.most};
  std::int8_t* output = row.output;
  for (std::int32_t x = 0; x < row.outputs; ++x, output += row.channels) {
    const std::int8_t* block = row.table;
    for (std::int32_t first = 0; first < row.channels; first += kChannels, block += kBlockBytes) {
      const std::int32_t at = first + kChannels <= row.channels ? first : row.channels - kChannels;
      for (std::int32_t i = 0; i < kChannels; ++i) {
        const std::int8_t* scale = block + kScalesAt + i % 2 * 32 + i / 2 * 4;
        const std::int32_t start = vector_products::word(scale);
        const std::int32_t shift = vector_products::joined_shift(start);
        auto sum = static_cast<std::uint32_t>(start >> vector_products::kShiftBits);
        for (std::int32_t tap = 0; tap < kTaps; ++tap) {
          const std::int8_t input =
              row.rows[tap / 3][(x * row.stride + tap % 3) * row.channels + at + i];
          sum += static_cast<std::uint32_t>(input * weight(block[tap / 2 * kChannels + i], tap));
        }
        const std::int32_t scaled =
            requantize(static_cast<std::int32_t>(sum), vector_products::word(scale + 16), shift);
        output[at + i] = clamp(wrapping_add(scaled, row.zero_point), activation);
      }
    }
  }
}

}  // namespace channel_nibble_vectors

/// The functions for plain C++.
struct PlainChannelNibbleVectors : PlainVectorProducts {
  using Row = ChannelVectorRow;

  static void compute(const ChannelVectorRow& row) { channel_nibble_vectors::compute(row); }
};

}  // namespace cmsis_nn_delegate::portable
