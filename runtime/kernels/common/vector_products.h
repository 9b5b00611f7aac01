// What the kernels that multiply vectors of inputs do in their inner loops, in plain C++. Assembly for an
// instruction set has the same functions (vector_products_mve.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/nibbles.h"
#include "runtime/kernels/common/requantize.h"

namespace cmsis_nn_delegate::portable {

/// The products of groups of four windows with all filters. `table` has for each 2 channels, of which
/// the last ones may have been there before: for each vector of a window, which has 16 bytes, the weights of the
/// first and of the second, the first vector and then the others from the last to the second; int32 sums
/// for inputs of 0, multipliers and shifts.
template <typename Element>
struct VectorProductsOf {
  const Element* windows[4];  // of the first group; of whole vectors
  const std::int8_t* table;   // 4-byte aligned
  Element* output;            // of the first window
  std::int32_t channels;      // >= 2
  std::int32_t vectors;       // of a window, >= 1
  std::int32_t windows_step;  // from a window of a group to that of the next group, in bytes
  std::int32_t groups;        // >= 1, one behind the other in the output
  std::int32_t zero_point;
  std::int32_t least;
  std::int32_t most;
  std::int32_t form;         // VectorForm
  std::uint16_t offsets[8];  // of the results of channels 0 and 1, window by window, in bytes
};

using VectorProducts = VectorProductsOf<std::int8_t>;

namespace vector_products {

/// Inputs of a vector.
template <typename Element>
inline constexpr std::int32_t kVectorOf = 16 / static_cast<std::int32_t>(sizeof(Element));
inline constexpr std::int32_t kVector = kVectorOf<std::int8_t>;
inline constexpr std::int32_t kWindows = 4;
inline constexpr std::int32_t kChannels = 2;

inline std::int32_t word(const std::int8_t* from) {
  std::int32_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Of a word that has a sum for inputs of 0 above a shift.
inline constexpr std::int32_t kShiftBits = 6;
inline std::int32_t joined_shift(std::int32_t word) {
  constexpr std::int32_t kAbove = 32 - kShiftBits;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(word) << kAbove) >> kAbove;
}

/// The weights of a vector of inputs for 2 channels.
template <typename Element>
struct Bytes {
  static constexpr std::int32_t kBytes = 2 * kVectorOf<Element>;
  static constexpr bool kJoined = false;  // shifts lie in the lowest bits of starts
  static std::int32_t weight(const std::int8_t* table, std::int32_t channel, std::int32_t input) {
    return table[channel * kVectorOf<Element> + input];
  }
};

/// The same in 4 bits, those of channel 0 in the lower halves of bytes.
template <typename Element>
struct Nibbles {
  static constexpr std::int32_t kBytes = kVectorOf<Element>;
  static constexpr bool kJoined = true;
  static std::int32_t weight(const std::int8_t* table, std::int32_t channel, std::int32_t input) {
    return nibble(table + input, static_cast<std::uint32_t>(channel));
  }
};

template <typename Weights, typename Element>
void multiply(const VectorProductsOf<Element>& p) {
  constexpr std::int32_t kInputs = kVectorOf<Element>;
  constexpr auto kBytes = static_cast<std::int32_t>(sizeof(Element));
  const payload::Activation activation = {p.least, p.most};
  for (std::int32_t group = 0; group < p.groups; ++group) {
    const std::int8_t* table = p.table;
    for (std::int32_t first = 0; first < p.channels; first += kChannels) {
      std::uint32_t sums[kWindows][kChannels] = {};
      for (std::int32_t i = 0; i < p.vectors; ++i) {
        const std::int32_t vector = i == 0 ? 0 : p.vectors - i;
        for (std::int32_t channel = 0; channel < kChannels; ++channel) {
          for (std::int32_t window = 0; window < kWindows; ++window) {
            const Element* inputs =
                p.windows[window] + group * p.windows_step / kBytes + vector * kInputs;
            for (std::int32_t k = 0; k < kInputs; ++k) {
              sums[window][channel] +=
                  static_cast<std::uint32_t>(inputs[k] * Weights::weight(table, channel, k));
            }
          }
        }
        table += Weights::kBytes;
      }
      const std::int32_t at = first + kChannels <= p.channels ? first : p.channels - kChannels;
      Element* output = p.output + group * kWindows * p.channels + at;
      for (std::int32_t channel = 0; channel < kChannels; ++channel, table += 4) {
        const std::int32_t multiplier = word(table + 8);
        std::int32_t start = word(table);
        std::int32_t shift = 0;
        if constexpr (Weights::kJoined) {
          shift = joined_shift(start);
          start >>= kShiftBits;
        } else {
          shift = word(table + 16);
        }
        for (std::int32_t window = 0; window < kWindows; ++window) {
          const std::int32_t sum =
              wrapping_add(static_cast<std::int32_t>(sums[window][channel]), start);
          output[p.offsets[2 * window + channel] / kBytes] = clamp_to<Element>(
              wrapping_add(requantize(sum, multiplier, shift), p.zero_point), activation);
        }
      }
      table += Weights::kJoined ? 8 : 16;
    }
  }
}

}  // namespace vector_products

/// The functions for plain C++.
template <typename Type>
struct PlainVectorProductsOf {
  using Element = Type;

  static void multiply(const VectorProductsOf<Element>& products) {
    vector_products::multiply<vector_products::Bytes<Element>>(products);
  }
  /// Copies `bytes` >= 1 from each of `columns` >= 1 places that lie `from_step` apart.
  static void copy_columns(std::int8_t* to, const std::int8_t* from, std::int32_t columns,
                           std::int32_t bytes, std::int32_t to_step, std::int32_t from_step) {
    for (std::int32_t i = 0; i < columns; ++i) {
      std::memcpy(to + i * to_step, from + i * from_step, static_cast<std::size_t>(bytes));
    }
  }
  /// Copies `windows` >= 1 windows of `lines` >= 1 lines of 1 to 16 bytes, one line behind the other. `window_bytes` is at
  /// least that of the lines. Up to 15 bytes behind each window are overwritten. All sizes and steps are bytes.
  static void copy_windows(std::int8_t* to, const std::int8_t* from, std::int32_t windows,
                           std::int32_t lines, std::int32_t line_bytes, std::int32_t line_step,
                           std::int32_t window_bytes, std::int32_t window_step) {
    for (std::int32_t i = 0; i < windows; ++i, to += window_bytes, from += window_step) {
      std::int8_t* line = to;
      for (std::int32_t k = 0; k < lines; ++k, line += line_bytes) {
        std::memcpy(line, from + k * line_step, static_cast<std::size_t>(line_bytes));
        // As assembly does, so that whoever needs these bytes finds out here.
        std::memset(line + line_bytes, 0x55, static_cast<std::size_t>(16 - line_bytes));
      }
    }
  }
};

using PlainVectorProducts = PlainVectorProductsOf<std::int8_t>;
using PlainVectorProductsInt16 = PlainVectorProductsOf<std::int16_t>;

/// The same for weights of 4 bits: a byte of the table for each input of a window, with the weight of the first channel in
/// its lower half; shifts in the lowest bits of the words of sums.
template <typename Type>
struct PlainNibbleVectorProductsOf : PlainVectorProductsOf<Type> {
  static void multiply(const VectorProductsOf<Type>& products) {
    vector_products::multiply<vector_products::Nibbles<Type>>(products);
  }
};

using PlainNibbleVectorProducts = PlainNibbleVectorProductsOf<std::int8_t>;
using PlainNibbleVectorProductsInt16 = PlainNibbleVectorProductsOf<std::int16_t>;

}  // namespace cmsis_nn_delegate::portable
