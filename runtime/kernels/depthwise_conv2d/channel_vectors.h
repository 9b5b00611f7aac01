// What the depthwise kernel that computes vectors of channels does in its inner loop, in plain C++. Assembly
// for an instruction set has the same functions (channel_vectors_mve.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/vector_products.h"

namespace cmsis_nn_delegate::portable {

/// A row of outputs of 3 x 3 taps. `table` has for each 8 channels, of which the last ones may have
/// been there before: sums for inputs of 0 of the even and of the odd channels; 8 weights for each
/// tap; multipliers and shifts of the even and of the odd channels.
struct ChannelVectorRow {
  const std::int8_t* rows[3];  // with the padding, and as if the number of outputs were even
  const std::int8_t* table;    // 4-byte aligned
  std::int8_t* output;
  std::int32_t channels;  // >= 8
  std::int32_t outputs;   // >= 1
  std::int32_t stride;    // 1 or 2, of columns
  std::int32_t zero_point;
  std::int32_t least;
  std::int32_t most;
  std::int32_t form;  // VectorForm

  /// Takes what is the same for all rows of a call. `Args` is the argument block.
  template <typename Args>
  void prepare(const Args& args, const std::int8_t* /*end*/, std::int32_t /*row_bytes*/) {
    stride = args.params.stride.w;
    zero_point = args.params.output_offset;
  }

  /// Takes the rows from `first` on, of `row_bytes` each; the first of all follows the last, which ends at `end`.
  void take_rows(const std::int8_t* first, const std::int8_t* end, std::int32_t row_bytes) {
    for (const std::int8_t*& row : rows) {
      row = first;
      first += row_bytes;
      first = first == end ? end - 3 * row_bytes : first;
    }
  }
};

namespace channel_vectors {

inline constexpr std::int32_t kChannels = 8;
inline constexpr std::int32_t kTaps = 9;
inline constexpr std::int32_t kBlockBytes = 168;
inline constexpr std::int32_t kWeightsAt = 32;
inline constexpr std::int32_t kScalesAt = kWeightsAt + kTaps * kChannels;

inline void compute(const ChannelVectorRow& row) {
  const payload::Activation activation = {row.least, row.most};
  std::int8_t* output = row.output;
  for (std::int32_t x = 0; x < row.outputs; ++x, output += row.channels) {
    const std::int8_t* block = row.table;
    for (std::int32_t first = 0; first < row.channels; first += kChannels, block += kBlockBytes) {
      const std::int32_t at = first + kChannels <= row.channels ? first : row.channels - kChannels;
      for (std::int32_t i = 0; i < kChannels; ++i) {
        const std::int32_t lane = i / 2 * 4;
        const std::int32_t odd = i % 2;
        auto sum = static_cast<std::uint32_t>(vector_products::word(block + odd * 16 + lane));
        for (std::int32_t tap = 0; tap < kTaps; ++tap) {
          const std::int8_t input =
              row.rows[tap / 3][(x * row.stride + tap % 3) * row.channels + at + i];
          sum += static_cast<std::uint32_t>(input * block[kWeightsAt + tap * kChannels + i]);
        }
        const std::int8_t* scale = block + kScalesAt + odd * 32 + lane;
        const std::int32_t scaled =
            requantize(static_cast<std::int32_t>(sum), vector_products::word(scale),
                       vector_products::word(scale + 16));
        output[at + i] = clamp(wrapping_add(scaled, row.zero_point), activation);
      }
    }
  }
}

}  // namespace channel_vectors

/// The functions for plain C++.
struct PlainChannelVectors : PlainVectorProducts {
  using Row = ChannelVectorRow;

  static void compute(const ChannelVectorRow& row) { channel_vectors::compute(row); }
};

}  // namespace cmsis_nn_delegate::portable
