// What the linear layers that multiply a row with vectors of weights do in their inner loop, in plain C++. Assembly for
// an instruction set has the same function (row_vectors_mve.h).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/vector_products.h"

namespace cmsis_nn_delegate::portable {

/// The products of a row with all weights. `table` has for each 8 channels, of which the last block may lack some: 8 sums
/// for inputs of 0; weights for each channel and each vector of 16 bytes of inputs, of which the first may have less;
/// multipliers of the even and of the odd channels, shifts of the even and of the odd ones. `Element` is int8_t or int16_t.
template <typename Element>
struct RowVectors {
  const Element* input;
  const std::int8_t* table;  // 4-byte aligned
  Element* output;
  std::int32_t channels;  // >= 1
  std::int32_t vectors;   // of inputs, >= 1
  std::int32_t first;     // inputs of the first vector, at least 1
  std::int32_t least;
  std::int32_t most;
  std::int32_t offset;  // the zero point of the output, 0 of int16
};

namespace row_vectors {

inline constexpr std::int32_t kChannels = 8;
template <typename Element>
inline constexpr std::int32_t kVector = 16 / sizeof(Element);  // inputs
inline constexpr std::int32_t kScaleWords = 3 * kChannels;

template <typename Element>
void multiply(const RowVectors<Element>& p) {
  const payload::Activation activation = {p.least, p.most};
  const std::int8_t* table = p.table;
  for (std::int32_t at = 0; at < p.channels; at += kChannels) {
    std::uint32_t sums[kChannels];
    for (std::uint32_t& sum : sums) {
      sum = static_cast<std::uint32_t>(vector_products::word(table));
      table += 4;
    }
    const Element* input = p.input;
    std::int32_t count = p.first;
    for (std::int32_t i = 0; i < p.vectors; ++i, input += count, count = kVector<Element>) {
      for (std::uint32_t& sum : sums) {
        for (std::int32_t k = 0; k < count; ++k) {
          sum += static_cast<std::uint32_t>(input[k] * table[k]);
        }
        table += kVector<Element>;
      }
    }
    for (std::int32_t i = 0; i < kChannels && at + i < p.channels; ++i) {
      const std::int8_t* scale = table + i % 2 * 16 + i / 2 * 4;
      const std::int32_t value =
          requantize(static_cast<std::int32_t>(sums[i]), vector_products::word(scale),
                     vector_products::word(scale + 32));
      p.output[at + i] = clamp_to<Element>(wrapping_add(value, p.offset), activation);
    }
    table += 2 * 4 * kChannels;
  }
}

}  // namespace row_vectors

/// The function for plain C++.
struct PlainRowVectors {
  template <typename Element>
  static void multiply(const RowVectors<Element>& row) {
    row_vectors::multiply(row);
  }
};

}  // namespace cmsis_nn_delegate::portable
