// The products of one row of inputs with all channels, in plain C++. Assembly for an instruction set has the same
// function (row_products_dsp.h and so on).
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/pair_products.h"

namespace cmsis_nn_delegate::portable {

/// `table` has for each 8 channels: int32 sums for inputs of 0; four words of int8 for 2 inputs, each for 2 channels, as
/// in PairProducts. A word of inputs makes the pairs (0, 2) and (1, 3). `scales` has what RowScale reads.
template <typename Element>
struct RowProductsOf {
  /// A multiple of 8 inputs, at least that; what follows them; the same if nothing does. Not aligned.
  const Element* input;
  const Element* input_end;
  const Element* rest;
  const Element* rest_end;
  const std::int32_t* table;
  Element* output;
  std::int32_t channels;  // >= 1
  std::int32_t form;
  const std::int32_t* scales;
  std::int32_t scale_bytes;  // from those of one channel to the next one's: 8, or 0
  /// Limits of results, for forms other than FLOOR.
  std::int32_t least;
  std::int32_t most;
};

using RowProducts = RowProductsOf<std::int8_t>;

/// How a channel is requantized: (shift, multiplier, correction), from the two words that `packed` in
/// aot/cmsis_nn_delegate/providers/tuned/requantization.py describes.
struct RowScale {
  static constexpr std::int32_t kWords = 2;

  RowScale(std::int32_t form, const std::int32_t* packed) {
    const std::int32_t value = packed[0] >> 8;
    words[0] = packed[0] & 0xFF;
    words[1] = packed[1];
    words[2] = form != 0 ? value : pair_products::shift_left(value, words[0] - 1);
  }

  std::int32_t words[pair_products::kScales];
};

/// Weights that need nothing after all products have been added.
struct RowSums {
  template <std::int32_t kBlock>
  static void separate(std::uint32_t (& /*sums*/)[kBlock]) {}
};

/// The weights of a block in int8. add() adds the products of two inputs, and returns the end of their weights; separate()
/// makes the sums of the channels of what has been added.
struct RowBytes : RowSums {
  static constexpr std::int32_t kPerByte = 1;

  template <std::int32_t kBlock>
  static const std::int32_t* add(std::uint32_t (&sums)[kBlock], std::int32_t a, std::int32_t b,
                                 const std::int32_t* table) {
    for (std::int32_t channel = 0; channel < kBlock; channel += 2) {
      std::int8_t weights[4];
      std::memcpy(weights, table++, sizeof(weights));
      for (std::int32_t i = 0; i < 2; ++i) {
        sums[channel + i] += static_cast<std::uint32_t>(a * weights[i] + b * weights[i + 2]);
      }
    }
    return table;
  }
};

/// The same of two channels in 16 bits.
struct RowJointBytes {
  template <std::int32_t kBlock>
  static const std::int32_t* add(std::uint32_t (&sums)[kBlock], std::int32_t a, std::int32_t b,
                                 const std::int32_t* table) {
    return pair_products::JointBytes::add_pair(sums, a, b, table);
  }
  template <std::int32_t kBlock>
  static void separate(std::uint32_t (&sums)[kBlock]) {
    pair_products::JointBytes::separate(sums);
  }
};

/// The same in 4 bits: a word has the weights of 4 channels and 2 inputs, 8 more than they are.
struct RowNibbles : RowSums {
  static constexpr std::int32_t kPerByte = 2;

  template <std::int32_t kBlock>
  static const std::int32_t* add(std::uint32_t (&sums)[kBlock], std::int32_t a, std::int32_t b,
                                 const std::int32_t* table) {
    for (std::int32_t channel = 0; channel < kBlock; ++channel) {
      const std::int32_t word = table[channel / 4];
      sums[channel] +=
          static_cast<std::uint32_t>(a * pair_products::offset_nibble(word, channel % 4, 0) +
                                     b * pair_products::offset_nibble(word, channel % 4, 1));
    }
    return table + kBlock / 4;
  }
};

/// The function in plain C++.
template <typename Weights>
struct PlainRows {
  using Element = std::int8_t;
  static constexpr std::int32_t kBlock = 8;

  static void multiply(RowProducts& p) {
    const std::int32_t* table = p.table;
    const std::int32_t* scale = p.scales;
    for (std::int32_t channel = 0; channel < p.channels; channel += kBlock) {
      std::uint32_t sums[kBlock];
      for (std::uint32_t& sum : sums) {
        sum = static_cast<std::uint32_t>(*table++);
      }
      table = add(sums, p.input, p.input_end, table);
      if (p.rest_end != p.input_end) {
        table = add(sums, p.rest, p.rest_end, table);
      }
      Weights::separate(sums);
      for (std::int32_t i = 0; i < kBlock && channel + i < p.channels; ++i) {
        p.output[channel + i] = requantize(p, static_cast<std::int32_t>(sums[i]), scale);
        scale += p.scale_bytes / static_cast<std::int32_t>(sizeof(*scale));
      }
    }
  }

 private:
  static const std::int32_t* add(std::uint32_t (&sums)[kBlock], const std::int8_t* input,
                                 const std::int8_t* end, const std::int32_t* table) {
    for (; input != end; input += 4) {
      for (std::int32_t parity = 0; parity < 2; ++parity) {
        table = Weights::add(sums, input[parity], input[parity + 2], table);
      }
    }
    return table;
  }

  static std::int8_t requantize(const RowProducts& p, std::int32_t sum, const std::int32_t* scale) {
    const RowScale channel(p.form, scale);
    if (p.form != 0) {
      return static_cast<std::int8_t>(pair_products::Floor::requantize(sum, channel.words));
    }
    const std::int32_t value = pair_products::Any::requantize(sum, channel.words);
    return static_cast<std::int8_t>(value < p.least ? p.least : value > p.most ? p.most : value);
  }
};

using PlainRowProducts = PlainRows<RowBytes>;
using PlainJointRowProducts = PlainRows<RowJointBytes>;
using PlainNibbleRowProducts = PlainRows<RowNibbles>;

}  // namespace cmsis_nn_delegate::portable
