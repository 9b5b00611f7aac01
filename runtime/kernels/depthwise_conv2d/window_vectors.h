// What the depthwise kernel that multiplies whole windows does in its inner
// loops, in plain C++. Assembly for an instruction set has the same functions
// (window_vectors_mve.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/vector_products.h"

namespace cmsis_nn_delegate::portable {

/// Outputs of a few channels, in groups of two rows of four, from columns of inputs: four rows of a column of an image side
/// by side for a channel, then for the next of 16 channels. Two vectors of a group have four columns of a channel each, the
/// second from the third one on. `table` has for each channel four bytes of 0; three columns of three weights and a byte of
/// 0; a word with the shift in the lowest bits and the sum for inputs of 0 in the others; the multiplier.
struct WindowStrip {
  const std::int8_t* columns;  // 4-byte aligned
  const std::int8_t* table;    // 4-byte aligned
  std::int8_t* output;
  std::int32_t channels;     // 1 to 16
  std::int32_t groups;       // >= 1
  std::int32_t output_step;  // from a group to the next one
  std::int32_t zero_point;
  std::int32_t least;
  std::int32_t most;
  std::int32_t form;  // VectorForm
  /// Two bits for each output of a group, which are set if it is stored: of the first column that of the first row in the
  /// lowest bits, then that of the second row, and so on.
  std::int32_t mask;
  std::int32_t rest;         // the same for one or two columns behind the groups; 0: there is none
  std::uint16_t offsets[8];  // of the outputs of a group
  std::uint32_t places[4];   // of the four columns of a vector
};

namespace window_vectors {

inline constexpr std::int32_t kBlock = 16;   // channels
inline constexpr std::int32_t kRows = 4;     // of a column
inline constexpr std::int32_t kColumn = 64;  // bytes
inline constexpr std::int32_t kOutputs = 8;  // of a group
inline constexpr std::int32_t kTaps = 3;     // of a row and of a column
inline constexpr std::int32_t kTable = 24;   // bytes of a channel
inline constexpr std::int32_t kWeightsAt = 4;
inline constexpr std::int32_t kScalesAt = 16;

/// The products of the window that begins with input `from`, in the first row of a column.
inline std::uint32_t products(const std::int8_t* from, const std::int8_t* table) {
  std::uint32_t sum = 0;
  for (std::int32_t x = 0; x < kTaps; ++x) {
    for (std::int32_t y = 0; y < kTaps; ++y) {
      sum += static_cast<std::uint32_t>(from[x * kColumn + y] * table[kWeightsAt + kRows * x + y]);
    }
  }
  return sum;
}

inline void compute(const WindowStrip& s) {
  const payload::Activation activation = {s.least, s.most};
  for (std::int32_t channel = 0; channel < s.channels; ++channel) {
    const std::int8_t* const table = s.table + channel * kTable;
    const std::int32_t start = vector_products::word(table + kScalesAt);
    const std::int8_t* from = s.columns + channel * kRows;
    std::int8_t* output = s.output + channel;
    for (std::int32_t group = 0; group < s.groups + (s.rest != 0 ? 1 : 0); ++group) {
      const std::int32_t mask = group < s.groups ? s.mask : s.rest;
      for (std::int32_t i = 0; i < kOutputs; ++i) {
        if ((mask >> 2 * i & 1) == 0) {
          continue;
        }
        const std::uint32_t sum = products(from + i / 2 * kColumn + i % 2, table);
        const std::int32_t scaled = requantize(
            wrapping_add(static_cast<std::int32_t>(sum), start >> vector_products::kShiftBits),
            vector_products::word(table + kScalesAt + 4), vector_products::joined_shift(start));
        output[s.offsets[i]] = clamp(wrapping_add(scaled, s.zero_point), activation);
      }
      from += kOutputs / 2 * kColumn;
      output += s.output_step;
    }
  }
}

}  // namespace window_vectors

/// The functions for plain C++.
struct PlainWindowVectors : PlainVectorProducts {
  static void compute(const WindowStrip& strip) { window_vectors::compute(strip); }

  /// Writes `count` columns of `channels` inputs: pixels of four rows, `steps` bytes apart. If the first row is null, it is
  /// the third one of the columns that are there. If `keep` is not null, pixels of the third row go there too, kBlock bytes
  /// each, where the first row may lie.
  static void interleave(std::int8_t* to, const std::int8_t* const (&rows)[window_vectors::kRows],
                         const std::int32_t (&steps)[window_vectors::kRows], std::int32_t count,
                         std::int32_t channels, std::int8_t* keep) {
    for (std::int32_t i = 0; i < count; ++i, to += window_vectors::kColumn) {
      for (std::int32_t channel = 0; channel < channels; ++channel) {
        std::int8_t* const column = to + channel * window_vectors::kRows;
        column[0] = rows[0] == nullptr ? column[2] : rows[0][i * steps[0] + channel];
        for (std::int32_t row = 1; row < window_vectors::kRows; ++row) {
          column[row] = rows[row][i * steps[row] + channel];
        }
      }
      if (keep != nullptr) {
        for (std::int32_t channel = 0; channel < channels; ++channel) {
          keep[i * window_vectors::kBlock + channel] = rows[2][i * steps[2] + channel];
        }
      }
    }
  }
};

}  // namespace cmsis_nn_delegate::portable
