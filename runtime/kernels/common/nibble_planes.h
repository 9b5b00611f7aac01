// The constants of a depthwise convolution by planes whose weights have 4 bits.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_planes.h"

namespace cmsis_nn_delegate::portable::nibble_planes {

/// Writes what channel_planes::filter() reads of `channels` channels to `table`, and returns the end of what it has read.
/// A channel has a word with weights 0 to 7, the first in the lowest bits; one with weight 8 in bits 0 to 3, the byte that
/// PlaneScale reads in bits 4 to 10 and above them the sum for inputs of 0; the multiplier. If it has four `words`, the
/// sum is the last one.
inline const std::int32_t* unpack(const std::int32_t* packed, std::int32_t words,
                                  std::int32_t channels, std::int32_t* table) {
  constexpr std::int32_t kStartAt = 11;
  constexpr std::int32_t kPacked = 3;
  for (std::int32_t i = 0; i < channels; ++i, packed += words, table += channel_planes::kWords) {
    const auto first = static_cast<std::uint32_t>(packed[0]);
    const auto second = static_cast<std::uint32_t>(packed[1]);
    const auto byte = [](std::uint32_t bits, std::int32_t at) {
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(bits << (28 - at)) >> 28) & 0xFF;
    };
    const auto row = [&](std::int32_t at) {
      const std::uint32_t middle = byte(first, at + 4);
      return static_cast<std::int32_t>(byte(first, at) | middle << 8 | middle << 16 |
                                       byte(first, at + 8) << 24);
    };
    table[0] = row(0);
    table[1] = row(12);
    table[2] = static_cast<std::int32_t>(byte(first, 24) | byte(first, 28) << 8 |
                                         byte(second, 0) << 16 | (second >> 4 & 0x7F) << 24);
    table[3] = words == kPacked ? packed[1] >> kStartAt : packed[3];
    table[4] = packed[2];
  }
  return packed;
}

}  // namespace cmsis_nn_delegate::portable::nibble_planes
