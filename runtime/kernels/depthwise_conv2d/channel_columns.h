// What the depthwise kernel that multiplies columns of inputs does in its inner loops, in plain C++. Assembly for an
// instruction set has the same functions (channel_columns_mve.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/vector_products.h"

namespace cmsis_nn_delegate::portable {

/// Outputs of a band of up to 8 channels, in groups of eight: two rows of four with stride 1, one row of eight with stride
/// 2. A plane has the inputs of a channel, columns of six rows one behind the other, so that 30 bytes are those of five
/// neighbouring columns. `table` has for each channel three bytes of 0; of each of five columns five weights and a byte of
/// 0; three bytes of 0; a word with the shift in the lowest bits and the sum for inputs of 0 in the others; the multiplier.
struct ColumnBand {
  const std::int8_t* planes;
  const std::int8_t* table;  // 4-byte aligned
  std::int8_t* output;
  std::int32_t channels;  // 1 to 8
  std::int32_t groups;    // before the last one
  std::int32_t plane_bytes;
  std::int32_t output_step;  // from a group to the next one
  std::int32_t zero_point;
  std::int32_t least;
  std::int32_t most;
  std::int32_t form;  // VectorForm
  /// Two bits for each output of a group, which are set if it is stored.
  std::int32_t mask;
  std::int32_t last;  // the same for the last group
  /// Of the outputs of a group: with stride 1 those of a column one after the other.
  std::uint16_t offsets[8];
};

/// Moves the inputs of planes up by two rows, and reads two more of all columns: the fifth and the sixth of `planes`. To
/// read other rows, `planes` lies as many bytes before the first one, and nothing is moved.
struct ColumnRows {
  std::int8_t* planes;
  std::int32_t plane_bytes;  // a multiple of 16
  std::int32_t vectors;      // of 16 bytes that are moved: all planes, or none
  const std::int8_t* rows[2];
  std::int32_t steps[2];  // from a pixel to the next one
  std::int32_t left;      // columns of padding
  std::int32_t inside;
  std::int32_t right;  // columns of padding
  std::int32_t channels;
  std::int32_t padding;
};

namespace channel_columns {

inline constexpr std::int32_t kChannels = 8;  // of a block
inline constexpr std::int32_t kRows = 6;      // of a column
inline constexpr std::int32_t kTaps = 5;      // of a row and of a column
inline constexpr std::int32_t kRead = 2;      // rows at a time
inline constexpr std::int32_t kOutputs = 8;   // of a group
inline constexpr std::int32_t kTable = 44;    // bytes of a channel
inline constexpr std::int32_t kWeightsAt = 3;
inline constexpr std::int32_t kScalesAt = 36;

/// Rows of outputs of a band, which reads kRead rows.
inline std::int32_t band_rows(std::int32_t stride) { return stride == 1 ? 2 : 1; }

template <std::int32_t kStride>
void compute(const ColumnBand& b) {
  constexpr std::int32_t kBandRows = kStride == 1 ? 2 : 1;
  const payload::Activation activation = {b.least, b.most};
  for (std::int32_t channel = 0; channel < b.channels; ++channel) {
    const std::int8_t* const table = b.table + channel * kTable;
    const std::int32_t start = vector_products::word(table + kScalesAt);
    const std::int8_t* from = b.planes + channel * b.plane_bytes;
    std::int8_t* output = b.output + channel;
    for (std::int32_t group = 0; group <= b.groups; ++group) {
      const std::int32_t mask = group < b.groups ? b.mask : b.last;
      for (std::int32_t i = 0; i < kOutputs; ++i) {
        if ((mask >> 2 * i & 1) == 0) {
          continue;
        }
        const std::int8_t* const window =
            from + i / kBandRows * kStride * kRows + (kBandRows == 1 ? 0 : i % kBandRows);
        std::uint32_t sum = 0;
        for (std::int32_t x = 0; x < kTaps; ++x) {
          for (std::int32_t y = 0; y < kTaps; ++y) {
            const std::int32_t at = x * kRows + y;
            sum += static_cast<std::uint32_t>(window[at] * table[kWeightsAt + at]);
          }
        }
        const std::int32_t scaled = requantize(
            wrapping_add(static_cast<std::int32_t>(sum), start >> vector_products::kShiftBits),
            vector_products::word(table + kScalesAt + 4), vector_products::joined_shift(start));
        output[b.offsets[i]] = clamp(wrapping_add(scaled, b.zero_point), activation);
      }
      from += kOutputs / kBandRows * kStride * kRows;
      output += b.output_step;
    }
  }
}

inline void advance(const ColumnRows& r) {
  std::memmove(r.planes, r.planes + kRead, static_cast<std::size_t>(r.vectors) * 16);
  for (std::int32_t row = 0; row < kRead; ++row) {
    const std::int8_t* from = r.rows[row];
    std::int8_t* to = r.planes + kRows - kRead + row;
    for (std::int32_t x = -r.left; x < r.inside + r.right; ++x, to += kRows) {
      const bool padded = x < 0 || x >= r.inside;
      for (std::int32_t channel = 0; channel < r.channels; ++channel) {
        to[channel * r.plane_bytes] = padded ? static_cast<std::int8_t>(r.padding) : from[channel];
      }
      from += padded ? 0 : r.steps[row];
    }
  }
}

}  // namespace channel_columns

/// The functions for plain C++.
struct PlainChannelColumns {
  static void advance(const ColumnRows& rows) { channel_columns::advance(rows); }
  static void stride1(const ColumnBand& band) { channel_columns::compute<1>(band); }
  static void stride2(const ColumnBand& band) { channel_columns::compute<2>(band); }
};

}  // namespace cmsis_nn_delegate::portable
