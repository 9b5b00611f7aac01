// What the depthwise convolution by rows does in its inner loops, in plain C++. Assembly for an instruction set has the
// same functions (channel_rows_scalar.h).
//
// Scratch memory holds three rows of four channels, one record of kColumnBytes for each column: a word for each row,
// with a byte for each channel, and room for a sum. A byte is the input plus 128. The next row lies one word after the
// last one, over the room for sums, and the row after that over the first row of the next column: a window that moves
// down by a word in each record.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/depthwise_3x3.h"
#include "runtime/kernels/common/pair_products.h"

namespace cmsis_nn_delegate::portable {

/// A row of outputs of up to four channels.
struct ChannelRow {
  const std::uint8_t* window;  // the first record, at the first row of the window; 4-byte aligned
  std::int8_t* output;         // the first result of the first channel
  const std::int32_t* table;   // of the first channel: see channel_rows::kWords
  std::int32_t first;          // byte of the first channel in a word of the window
  std::int32_t channels;       // 1 to 4
  std::int32_t outputs;        // >= 1
  std::int32_t column_bytes;   // from an output to the next one of the row
  /// Limits of results, for form ANY; `limited` is 0 if they are those of int8.
  std::int32_t least;
  std::int32_t most;
  std::int32_t limited;
};

namespace channel_rows {

using depthwise_3x3::kTaps;

inline constexpr std::int32_t kChannels = 4;  // of a group
inline constexpr std::int32_t kRowBytes = kChannels;
inline constexpr std::int32_t kColumnBytes = 20;
inline constexpr std::uint32_t kInputOffset = 0x80808080;  // 128 in each byte

/// Of a channel in a table: three words with three weights each, of which the first one's last byte is the form; the
/// sum for inputs of -128; three words of the form, which is 0: shift, multiplier and correction of ANY
/// (requantization.py), 1: span, factor and constant of a product (product_requantization.py).
inline constexpr std::int32_t kWords = 7;
inline constexpr std::int32_t kStart = 3;
inline constexpr std::int32_t kScale = 4;

inline bool is_product(const std::int32_t* table) { return (table[0] >> 24) != 0; }

/// Returns the result of a sum. `scale` is {span, factor, constant}.
inline std::int32_t product(std::int32_t sum, const std::int32_t* scale) {
  const std::int32_t above = sum < scale[0] ? sum : scale[0];
  const auto d = static_cast<std::uint32_t>(above < 0 ? 0 : above);
  const auto factor = static_cast<std::uint32_t>(scale[1]);
  const std::uint32_t value =
      d * (factor >> 8) + (d * (factor & 0xFF) >> 8) + static_cast<std::uint32_t>(scale[2]);
  return static_cast<std::int32_t>(value) >> 24;
}

/// Computes one row.
template <std::int32_t kStride>
void filter(const ChannelRow& p) {
  const std::int32_t* table = p.table;
  for (std::int32_t channel = 0; channel < p.channels; ++channel, table += kWords) {
    std::int8_t weights[kTaps][4];
    std::memcpy(weights, table, sizeof(weights));
    const std::uint8_t* column = p.window + p.first + channel;
    std::int8_t* output = p.output + channel;
    for (std::int32_t i = 0; i < p.outputs; ++i) {
      auto sum = static_cast<std::uint32_t>(table[kStart]);
      for (std::int32_t x = 0; x < kTaps; ++x) {
        for (std::int32_t y = 0; y < kTaps; ++y) {
          sum +=
              static_cast<std::uint32_t>(column[x * kColumnBytes + y * kRowBytes] * weights[y][x]);
        }
      }
      const auto total = static_cast<std::int32_t>(sum);
      std::int32_t value = 0;
      if (is_product(table)) {
        value = product(total, table + kScale);
      } else {
        value = pair_products::Any::requantize(total, table + kScale);
        value = value < p.least ? p.least : value > p.most ? p.most : value;
      }
      *output = static_cast<std::int8_t>(value);
      output += p.column_bytes;
      column += kStride * kColumnBytes;
    }
  }
}

}  // namespace channel_rows

/// The functions for plain C++.
struct PlainChannelRows {
  static void filter_stride1(const ChannelRow& row) { channel_rows::filter<1>(row); }
  static void filter_stride2(const ChannelRow& row) { channel_rows::filter<2>(row); }
};

}  // namespace cmsis_nn_delegate::portable
