// What the depthwise kernels that compute vectors of channels of any windows do in their inner loops, in plain C++. Assembly
// for an instruction set has the same functions (channel_windows_mve.h, channel_vectors_int16_mve.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/vector_products.h"

namespace cmsis_nn_delegate::portable {

/// A row of outputs of any taps. `table` has for each 8 channels, of which the last ones may have been there before: sums
/// for inputs of 0 of the first and of the second 4 channels; 8 weights for each tap; multipliers and shifts of the first 4
/// channels, and of the second. The first 4 are the even ones of int8, and the first ones of int16.
template <typename Element>
struct ChannelWindowsOf {
  const Element* rows;  // the first that is read, with the padding, and as if `outputs` were even
  const Element* end;   // behind the last row of all, which the first of all follows
  const std::int8_t* table;  // 4-byte aligned
  Element* output;
  std::int32_t channels;  // >= 8
  std::int32_t outputs;   // >= 1
  std::int32_t least;
  std::int32_t most;
  std::int32_t form;        // VectorForm
  std::int32_t ring_bytes;  // of all rows
  std::int32_t taps_high;
  std::int32_t taps_wide;
  std::int32_t window_bytes;  // from a window to the next
  std::int32_t column_bytes;  // from a tap to the next one beside it
  std::int32_t row_bytes;     // and to the one below
  std::int32_t zero_point;    // of the output

  /// Takes what is the same for all rows of a call. `Args` is the argument block, and the sizes are elements.
  template <typename Args>
  void prepare(const Args& args, const Element* behind, std::int32_t row_size) {
    constexpr auto kBytes = static_cast<std::int32_t>(sizeof(Element));
    const auto& p = args.params;
    const std::int32_t pixel = args.input_dims.c * kBytes;
    taps_high = args.filter_dims.h;
    taps_wide = args.filter_dims.w;
    end = behind;
    ring_bytes = ((taps_high - 1) * p.dilation.h + 1) * row_size * kBytes;
    // Steps are not taken where there is one tap, or one window, and may be too large for a product then.
    window_bytes = args.output_dims.w == 1 ? pixel : p.stride.w * pixel;
    column_bytes = taps_wide == 1 ? pixel : p.dilation.w * pixel;
    row_bytes = taps_high == 1 ? 0 : p.dilation.h * row_size * kBytes;
    if constexpr (kBytes == 1) {
      zero_point = p.output_offset;
    } else {
      zero_point = 0;
    }
  }

  void take_rows(const Element* first, const Element* /*end*/, std::int32_t /*row_size*/) {
    rows = first;
  }
};

namespace channel_windows {

inline constexpr std::int32_t kChannels = 8;
inline constexpr std::int32_t kStartBytes = 32;
inline constexpr std::int32_t kScaleBytes = 64;

/// The weighted inputs of a channel: `row` is its input of the first tap.
template <typename Element>
std::uint32_t sum_of(const ChannelWindowsOf<Element>& p, const Element* row,
                     const std::int8_t* weights) {
  constexpr auto kBytes = static_cast<std::int32_t>(sizeof(Element));
  std::uint32_t sum = 0;
  for (std::int32_t i = 0; i < p.taps_high; ++i) {
    for (std::int32_t k = 0; k < p.taps_wide; ++k, weights += kChannels) {
      sum += static_cast<std::uint32_t>(row[k * (p.column_bytes / kBytes)] * *weights);
    }
    if (i + 1 < p.taps_high) {
      const std::int32_t step = p.row_bytes / kBytes;
      row += p.end - row > step ? step : step - p.ring_bytes / kBytes;
    }
  }
  return sum;
}

template <typename Element>
void compute(const ChannelWindowsOf<Element>& p) {
  constexpr auto kBytes = static_cast<std::int32_t>(sizeof(Element));
  const payload::Activation activation = {p.least, p.most};
  const std::int32_t weights_bytes = p.taps_high * p.taps_wide * kChannels;
  Element* output = p.output;
  for (std::int32_t x = 0; x < p.outputs; ++x, output += p.channels) {
    const Element* window = p.rows + x * (p.window_bytes / kBytes);
    const std::int8_t* block = p.table;
    for (std::int32_t first = 0; first < p.channels; first += kChannels) {
      const std::int32_t at = first + kChannels <= p.channels ? first : p.channels - kChannels;
      const std::int8_t* weights = block + kStartBytes;
      for (std::int32_t i = 0; i < kChannels; ++i) {
        const std::int32_t second = kBytes == 1 ? i % 2 : i / 4;
        const std::int32_t lane = kBytes == 1 ? i / 2 * 4 : i % 4 * 4;
        const std::int8_t* scale = weights + weights_bytes + second * 32 + lane;
        const std::uint32_t sum =
            sum_of(p, window + at + i, weights + i) +
            static_cast<std::uint32_t>(vector_products::word(block + second * 16 + lane));
        const std::int32_t value =
            requantize(static_cast<std::int32_t>(sum), vector_products::word(scale),
                       vector_products::word(scale + 16));
        output[at + i] = clamp_to<Element>(wrapping_add(value, p.zero_point), activation);
      }
      block = weights + weights_bytes + kScaleBytes;
    }
  }
}

}  // namespace channel_windows

/// The functions for plain C++.
template <typename Element>
struct PlainChannelWindowsOf : PlainVectorProductsOf<Element> {
  using Row = ChannelWindowsOf<Element>;

  static void compute(const Row& row) { channel_windows::compute(row); }
};

}  // namespace cmsis_nn_delegate::portable
