// The steps of a convolution of 3 x 3 taps by Winograd's algorithm F(2 x 2, 3 x 3), in plain C++. For an
// instruction set, `Lanes` has other instructions and an inner loop in assembly (winograd_dsp.h).
//
// Of 4 x 4 inputs d and a filter g, A^T ((G g G^T) * (B^T d B)) A are 2 x 2 outputs, where * multiplies element by
// element: 16 products in the place of 36. B and A are integers, and the compiler has computed (2G) g (2G)^T, so that
// all numbers are integers and sums are four times those of the convolution. A. Lavin and S. Gray, "Fast Algorithms
// for Convolutional Neural Networks", 2015.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/pair_products.h"

namespace cmsis_nn_delegate::portable {

namespace winograd {

inline constexpr std::int32_t kPositions = 16;  // of a transformed tile, row by row
inline constexpr std::int32_t kTiles = 2;       // side by side, computed at a time
inline constexpr std::int32_t kRows = 4;        // of inputs of two tiles
inline constexpr std::int32_t kColumns = 6;
inline constexpr std::int32_t kOutputRows = 2;
inline constexpr std::int32_t kOutputColumns = 4;
inline constexpr std::int32_t kBlock = 4;  // channels
inline constexpr std::int32_t kScales =
    4;  // words for each: the start of its sums, then as in PairProducts
inline constexpr std::int32_t kDepth = 8;  // inputs of a step of the inner loop
inline constexpr std::int32_t kProducts = kPositions * kTiles * kBlock;  // words

// Loops over the few rows and columns of tiles are written out, because compilers keep them with -O2, and the numbers
// then lie in memory instead of registers.

/// Transforms the inputs of two tiles. `inputs` is the first of 4 rows of 6 pixels of `depth` bytes,
/// a multiple of 8; rows are `row_bytes` apart. `out` gets for each position, for each two inputs,
/// the pairs of both tiles; of each four inputs, 0 and 2 are the first pair and 1 and 3 the second.
template <typename Lanes>
void transform(const std::int8_t* inputs, std::int32_t row_bytes, std::int32_t depth,
               std::int32_t* out) {
  for (std::int32_t k = 0; k < depth; k += 4, inputs += 4, out += 4) {
    std::int32_t rows[2][kRows][kColumns];
    const auto word = [](const std::int8_t* pixel) __attribute__((always_inline)) {
      std::int32_t value;
      std::memcpy(&value, pixel, sizeof(value));
      return value;
    };
    const auto down = [&](std::int32_t half, std::int32_t x, std::int32_t a, std::int32_t b,
                          std::int32_t c, std::int32_t d) __attribute__((always_inline)) {
      rows[half][0][x] = Lanes::sub(a, c);
      rows[half][1][x] = Lanes::add(b, c);
      rows[half][2][x] = Lanes::sub(c, b);
      rows[half][3][x] = Lanes::sub(b, d);
    };
    const std::int8_t* pixel = inputs;
    for (std::int32_t x = 0; x < kColumns; ++x, pixel += depth) {
      const std::int32_t a = word(pixel);
      const std::int32_t b = word(pixel + row_bytes);
      const std::int32_t c = word(pixel + 2 * row_bytes);
      const std::int32_t d = word(pixel + 3 * row_bytes);
      down(0, x, Lanes::even(a), Lanes::even(b), Lanes::even(c), Lanes::even(d));
      down(1, x, Lanes::odd(a), Lanes::odd(b), Lanes::odd(c), Lanes::odd(d));
    }
    std::int32_t* to = out;
    for (std::int32_t y = 0; y < kRows; ++y) {
      const auto across = [&](const std::int32_t* row, std::int32_t half)
          __attribute__((always_inline)) {
        const std::int32_t b = row[1];
        const std::int32_t c = row[2];
        const std::int32_t d = row[3];
        const std::int32_t e = row[4];
        std::int32_t* at = to + 2 * half;
        at[0] = Lanes::sub(row[0], c);
        at[1] = Lanes::sub(c, e);
        at += depth;
        at[0] = Lanes::add(b, c);
        at[1] = Lanes::add(d, e);
        at += depth;
        at[0] = Lanes::sub(c, b);
        at[1] = Lanes::sub(e, d);
        at += depth;
        at[0] = Lanes::sub(b, d);
        at[1] = Lanes::sub(d, row[5]);
      };
      across(rows[0][y], 0);
      across(rows[1][y], 1);
      to += 4 * depth;
    }
  }
}

/// Where the outputs of two tiles go.
struct Outputs {
  std::int8_t* first;
  std::int32_t row_bytes;
  std::int32_t pixel_bytes;
  std::int32_t rows;      // 1 or 2
  std::int32_t columns;   // 1 to 4
  std::int32_t channels;  // of a block, 1 to 4
  std::int32_t least;
  std::int32_t most;
};

/// Computes the outputs of a block from `products`, [position][tile][channel], and its `scales`.
template <typename Lanes, bool kFloor>
void finish(const std::int32_t* products, const std::int32_t* scales, const Outputs& to) {
  constexpr std::int32_t kColumn = kTiles * kBlock;
  constexpr std::int32_t kRow = 4 * kColumn;
  const std::int32_t row_bytes = to.row_bytes;
  const std::int32_t pixel_bytes = to.pixel_bytes;
  const std::int32_t tiles = (to.columns + 1) / 2;
  for (std::int32_t channel = 0; channel < to.channels; ++channel, scales += kScales) {
    const std::int32_t own[] = {scales[0], scales[1], scales[2], scales[3]};
    const std::int32_t* m = products + channel;
    std::int8_t* out = to.first + channel;
    for (std::int32_t tile = 0; tile < tiles; ++tile, m += kBlock, out += 2 * pixel_bytes) {
      const auto top = [&](std::int32_t x, std::int32_t b) __attribute__((always_inline)) {
        return wrapping_add(wrapping_add(m[x * kColumn], b), m[2 * kRow + x * kColumn]);
      };
      const auto bottom = [&](std::int32_t x, std::int32_t b) __attribute__((always_inline)) {
        return wrapping_sub(wrapping_sub(b, m[2 * kRow + x * kColumn]), m[3 * kRow + x * kColumn]);
      };
      const auto put = [&](std::int8_t * at, std::int32_t sum) __attribute__((always_inline)) {
        if (kFloor) {
          *at = static_cast<std::int8_t>(Lanes::floor(sum, own));
          return;
        }
        const std::int32_t value = Lanes::any(sum, own);
        *at = static_cast<std::int8_t>(value < to.least  ? to.least
                                       : value > to.most ? to.most
                                                         : value);
      };
      const auto put_row = [&](std::int8_t * at, std::int32_t a, std::int32_t b, std::int32_t c,
                               std::int32_t d) __attribute__((always_inline)) {
        put(at, wrapping_add(wrapping_add(a, b), c));
        if (tile * 2 + 1 < to.columns) {
          put(at + pixel_bytes, wrapping_sub(wrapping_sub(b, c), d));
        }
      };
      const std::int32_t b0 = m[kRow];
      // This position is part of all four outputs, with factor 1.
      const std::int32_t b1 = wrapping_add(m[kRow + kColumn], own[0]);
      const std::int32_t b2 = m[kRow + 2 * kColumn];
      const std::int32_t b3 = m[kRow + 3 * kColumn];
      put_row(out, top(0, b0), top(1, b1), top(2, b2), top(3, b3));
      if (to.rows == 2) {
        put_row(out + row_bytes, bottom(0, b0), bottom(1, b1), bottom(2, b2), bottom(3, b3));
      }
    }
  }
}

}  // namespace winograd

/// The instructions for plain C++: a word holds two int16.
struct PlainWinogradLanes {
  /// Bytes 0 and 2 of a word, widened.
  static std::int32_t even(std::int32_t word) {
    return pair(static_cast<std::int8_t>(word & 0xFF), static_cast<std::int8_t>(word >> 16 & 0xFF));
  }
  /// Bytes 1 and 3.
  static std::int32_t odd(std::int32_t word) { return even(word >> 8); }
  static std::int32_t add(std::int32_t a, std::int32_t b) {
    return pair(pair_products::low_half(a) + pair_products::low_half(b),
                pair_products::high_half(a) + pair_products::high_half(b));
  }
  static std::int32_t sub(std::int32_t a, std::int32_t b) {
    return pair(pair_products::low_half(a) - pair_products::low_half(b),
                pair_products::high_half(a) - pair_products::high_half(b));
  }
  /// Form::FLOOR of requantization.py for four times the sum, whose shift is 2 less.
  static std::int32_t floor(std::int32_t sum, const std::int32_t* scales) {
    return pair_products::Floor::requantize(sum, scales + 1);
  }
  /// Form::ANY for four times the sum.
  static std::int32_t any(std::int32_t sum, const std::int32_t* scales) {
    return pair_products::Any::requantize(sum >> 2, scales + 1);
  }
  /// Adds the products of transformed inputs and weights: `products`[position][tile][channel], from
  /// `inputs`[position][pair][tile] and `weights`[position][pair][channel], `depth` / 2 pairs.
  static void multiply(const std::int32_t* inputs, const std::int32_t* weights,
                       std::int32_t* products, std::int32_t depth) {
    for (std::int32_t i = 0; i < winograd::kPositions; ++i, products += winograd::kProducts / 16) {
      std::uint32_t sums[winograd::kTiles][winograd::kBlock] = {};
      for (std::int32_t k = 0; k < depth; k += 2, inputs += 2, weights += 4) {
        for (std::int32_t tile = 0; tile < winograd::kTiles; ++tile) {
          for (std::int32_t c = 0; c < winograd::kBlock; ++c) {
            const std::int64_t low = std::int64_t{pair_products::low_half(inputs[tile])} *
                                     pair_products::low_half(weights[c]);
            const std::int64_t high = std::int64_t{pair_products::high_half(inputs[tile])} *
                                      pair_products::high_half(weights[c]);
            sums[tile][c] += static_cast<std::uint32_t>(low + high);
          }
        }
      }
      std::memcpy(products, sums, sizeof(sums));
    }
  }

 private:
  static std::int32_t pair(std::int32_t low, std::int32_t high) {
    return static_cast<std::int32_t>((static_cast<std::uint32_t>(low) & 0xFFFF) |
                                     static_cast<std::uint32_t>(high) << 16);
  }
};

}  // namespace cmsis_nn_delegate::portable
