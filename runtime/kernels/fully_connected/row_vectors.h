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
/// NibbleWeights says what it has if weights have 4 bits.
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

/// What a block of the table has for its channels.
struct ByteWeights {
  static constexpr std::int32_t kScaleWords = 3 * kChannels;
  static constexpr std::int32_t kPerByte = 1;
};

/// The same with weights of 4 bits: bytes of 16 b + a + 8 for weights a of an even channel and b of the next one, so that
/// an arithmetic shift leaves b. The sums for inputs of 0 are those of odd channels, and for an even one 16 times that of
/// the next more. Shifts are bytes: those to the right, 0 or less, and then those to the left, 0 or more.
struct NibbleWeights {
  static constexpr std::int32_t kScaleWords = 2 * kChannels + kChannels / 2;
  static constexpr std::int32_t kPerByte = 2;
};

/// The words of a block for `vectors` of inputs.
template <typename Weights, typename Element>
constexpr std::int32_t block_words(std::int32_t vectors) {
  return Weights::kScaleWords + vectors * (kVector<Element> * kChannels / Weights::kPerByte / 4);
}

/// Adds the products of `count` inputs with the weights of a vector to the sums of 8 channels.
template <typename Weights, typename Element>
void add_products(std::uint32_t* sums, const Element* input, const std::int8_t* weights,
                  std::int32_t count) {
  for (std::int32_t channel = 0; channel < kChannels; channel += Weights::kPerByte) {
    for (std::int32_t k = 0; k < count; ++k) {
      sums[channel] += static_cast<std::uint32_t>(input[k] * weights[k]);
      if constexpr (Weights::kPerByte == 2) {
        sums[channel + 1] += static_cast<std::uint32_t>(input[k] * (weights[k] >> 4));
      }
    }
    weights += kVector<Element>;
  }
}

template <typename Weights, typename Element>
void multiply(const RowVectors<Element>& p) {
  constexpr bool kNibbles = Weights::kPerByte == 2;
  const payload::Activation activation = {p.least, p.most};
  std::uint32_t eights = 0;  // what a + 8 adds
  if constexpr (kNibbles) {
    const std::int32_t inputs = p.first + (p.vectors - 1) * kVector<Element>;
    for (std::int32_t i = 0; i < inputs; ++i) {
      eights += static_cast<std::uint32_t>(p.input[i] * 8);
    }
  }
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
      add_products<Weights>(sums, input, table, count);
      table += kVector<Element> * kChannels / Weights::kPerByte;
    }
    for (std::int32_t i = 0; i < kChannels && at + i < p.channels; ++i) {
      const std::int32_t place = i % 2 * 4 + i / 2;  // even channels come first
      const std::int8_t* scale = table + place * 4;
      std::uint32_t sum = sums[i];
      std::int32_t shift = 0;
      if constexpr (kNibbles) {
        sum -= i % 2 == 0 ? 16 * sums[i + 1] + eights : 0;
        const std::int8_t* shifts = table + 4 * kChannels + place;
        shift = shifts[0] + shifts[kChannels];
      } else {
        shift = vector_products::word(scale + 4 * kChannels);
      }
      const std::int32_t value =
          requantize(static_cast<std::int32_t>(sum), vector_products::word(scale), shift);
      p.output[at + i] = clamp_to<Element>(wrapping_add(value, p.offset), activation);
    }
    table += 4 * (Weights::kScaleWords - kChannels);
  }
}

}  // namespace row_vectors

/// The function for plain C++.
struct PlainRowVectors {
  using Weights = row_vectors::ByteWeights;

  template <typename Element>
  static void multiply(const RowVectors<Element>& row) {
    row_vectors::multiply<Weights>(row);
  }
};

/// The same for weights of 4 bits.
struct PlainNibbleRowVectors {
  using Weights = row_vectors::NibbleWeights;

  template <typename Element>
  static void multiply(const RowVectors<Element>& row) {
    row_vectors::multiply<Weights>(row);
  }
};

}  // namespace cmsis_nn_delegate::portable
