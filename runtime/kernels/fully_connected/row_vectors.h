// What the linear layers that multiply a row with vectors of weights do in their inner loop, in plain C++. Assembly for
// an instruction set has the same function (row_vectors_mve.h).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/vector_products.h"

namespace cmsis_nn_delegate::portable {

/// The products of a row with all weights. `table` has for each 8 channels, of which the last block may lack some: 8
/// biases; 8 weights for each channel and each vector of inputs, of which the first may have less; multipliers of the
/// even and of the odd channels, shifts of the even and of the odd ones.
struct RowVectors {
  const std::int16_t* input;
  const std::int8_t* table;  // 4-byte aligned
  std::int16_t* output;
  std::int32_t channels;  // >= 1
  std::int32_t vectors;   // of inputs, >= 1
  std::int32_t first;     // inputs of the first vector, 1 to 8
  std::int32_t least;
  std::int32_t most;
};

namespace row_vectors {

inline constexpr std::int32_t kChannels = 8;
inline constexpr std::int32_t kVector = 8;  // inputs
inline constexpr std::int32_t kScaleWords = 3 * kChannels;

inline void multiply(const RowVectors& p) {
  const payload::Activation activation = {p.least, p.most};
  const std::int8_t* table = p.table;
  for (std::int32_t at = 0; at < p.channels; at += kChannels) {
    std::uint32_t sums[kChannels];
    for (std::uint32_t& sum : sums) {
      sum = static_cast<std::uint32_t>(vector_products::word(table));
      table += 4;
    }
    const std::int16_t* input = p.input;
    std::int32_t count = p.first;
    for (std::int32_t i = 0; i < p.vectors; ++i, input += count, count = kVector) {
      for (std::uint32_t& sum : sums) {
        for (std::int32_t k = 0; k < count; ++k) {
          sum += static_cast<std::uint32_t>(input[k] * table[k]);
        }
        table += kVector;
      }
    }
    for (std::int32_t i = 0; i < kChannels && at + i < p.channels; ++i) {
      const std::int8_t* scale = table + i % 2 * 16 + i / 2 * 4;
      const std::int32_t value =
          requantize(static_cast<std::int32_t>(sums[i]), vector_products::word(scale),
                     vector_products::word(scale + 32));
      p.output[at + i] = clamp_to<std::int16_t>(value, activation);
    }
    table += 2 * 4 * kChannels;
  }
}

}  // namespace row_vectors

/// The function for plain C++.
struct PlainRowVectors {
  static void multiply(const RowVectors& row) { row_vectors::multiply(row); }
};

}  // namespace cmsis_nn_delegate::portable
