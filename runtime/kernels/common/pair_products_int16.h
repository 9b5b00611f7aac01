// pair_products.h for inputs and results of int16, in plain C++. Assembly for an instruction set has the same functions
// (pair_products_int16_dsp.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/pair_products.h"

namespace cmsis_nn_delegate::portable {

using PairProductsInt16 = PairProductsOf<std::int16_t>;

namespace pair_products_int16 {

/// Where a sum times its multiplier has the rest that the first rounding adds, a half.
inline constexpr std::int32_t kHalf = 1 << 30;

/// SMLAL, and of its result the upper word: (a * b + (low + 2^32 * high)) / 2^32.
inline std::int32_t multiply_high(std::int32_t a, std::int32_t b, std::uint32_t low,
                                  std::int32_t high) {
  const auto product = static_cast<std::uint64_t>(static_cast<std::int64_t>(a) * b);
  const std::uint64_t start =
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 | low;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>((product + start) >> 32));
}
/// SSAT #16.
inline std::int32_t saturate(std::int32_t value) {
  return value < -32768 ? -32768 : value > 32767 ? 32767 : value;
}

/// Form::FLOOR of requantization_int16.py in aot/cmsis_nn_delegate/providers/tuned; USAT #15 follows.
struct Floor {
  static std::int32_t requantize(std::int32_t sum, const std::int32_t* scale) {
    const std::int32_t value =
        pair_products::shift_right(multiply_high(sum, scale[1], kHalf, scale[2]), scale[0]);
    return value < 0 ? 0 : saturate(value);
  }
};

/// Form::ANY.
struct Any {
  static std::int32_t requantize(std::int32_t sum, const std::int32_t* scale) {
    const std::uint32_t sign = static_cast<std::uint32_t>(sum) & 0x80000000;
    const std::int32_t high = wrapping_add(scale[2], sum >> 31);
    return saturate(
        pair_products::shift_right(multiply_high(sum, scale[1], kHalf | sign, high), scale[0]));
  }
};

/// FINE of the same; the shift to the left, that which leaves the sign, and s have 8 bits each of the first word.
struct Fine {
  static std::int32_t requantize(std::int32_t sum, const std::int32_t* scale) {
    const std::int32_t shifted = pair_products::shift_left(sum, scale[0]);
    const std::int32_t scaled =
        pair_products::multiply_high(shifted, scale[1], scale[2], std::int64_t{1} << 31);
    const std::int32_t sign = (scale[0] >> 8 & 0xFF) < 32 ? (shifted < 0 ? 1 : 0) : 0;
    return saturate(pair_products::shift_right(wrapping_sub(scaled, sign), scale[0] >> 16));
  }
};

/// Interleaves `words` > 0 times 4 inputs of two windows: 0 and 1 of `a` and of `b`, then 2 and 3.
inline void widen(const std::int16_t* a, const std::int16_t* b, std::int32_t* out,
                  std::int32_t words) {
  for (std::int32_t i = 0; i < 2 * words; ++i, a += 2, b += 2, out += 2) {
    std::memcpy(out, a, sizeof(*out));
    std::memcpy(out + 1, b, sizeof(*out));
  }
}

/// Puts input `i` of two windows to where widen() would.
inline void widen_one(std::int16_t a, std::int16_t b, std::int32_t* out, std::int32_t i) {
  auto* const bytes = reinterpret_cast<unsigned char*>(out + i / 2 * 2) + i % 2 * sizeof(a);
  std::memcpy(bytes, &a, sizeof(a));
  std::memcpy(bytes + sizeof(*out), &b, sizeof(b));
}

}  // namespace pair_products_int16

/// The functions for plain C++.
struct PlainPairProductsInt16 {
  using Element = std::int16_t;

  static void widen(const std::int16_t* a, const std::int16_t* b, std::int32_t* out,
                    std::int32_t words) {
    pair_products_int16::widen(a, b, out, words);
  }
  static void widen_one(std::int16_t a, std::int16_t b, std::int32_t* out, std::int32_t i) {
    pair_products_int16::widen_one(a, b, out, i);
  }
  static void multiply_floor(const PairProductsInt16& products) {
    pair_products::multiply<pair_products_int16::Floor>(products);
  }
  static void multiply_any(const PairProductsInt16& products) {
    pair_products::multiply<pair_products_int16::Any>(products);
  }
};

/// The same for weights of 4 bits, 8 more than they are: `table` has one word for 4 channels and 2 inputs, and
/// the scales of Fine in the place of those of Any.
struct PlainNibblePairProductsInt16 : PlainPairProductsInt16 {
  static void multiply_floor(const PairProductsInt16& products) {
    pair_products::multiply<pair_products_int16::Floor, Weights>(products);
  }
  static void multiply_any(const PairProductsInt16& products) {
    pair_products::multiply<pair_products_int16::Fine, Weights>(products);
  }

 private:
  using Weights = pair_products::Nibbles<pair_products::offset_nibble>;
};

}  // namespace cmsis_nn_delegate::portable
