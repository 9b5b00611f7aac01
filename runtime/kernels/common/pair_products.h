// What the kernels that multiply pairs of inputs do in their inner loops, in plain C++. Assembly for an
// instruction set has the same functions (pair_products_dsp.h and so on).
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/requantize.h"

namespace cmsis_nn_delegate::portable {

/// The products of two windows with all filters. `table` has for each 4 channels: int32 sums for
/// inputs of 0; one word of int8 for 2 channels and 2 inputs (channel 0 and 1 of the first, then of
/// the second input), channels 0 and 1 and then 2 and 3; (shift, multiplier, correction) of each
/// channel. aot/cmsis_nn_delegate/providers/tuned has the order of the inputs and the requantization.
template <typename Element>
struct PairProductsOf {
  /// Widened inputs: two of the first window in one word, the same two of the second in the next
  /// one. 4-byte aligned; a multiple of 32 bytes.
  const std::int32_t* inputs;
  const std::int32_t* inputs_end;
  const std::int32_t* table;
  /// The results of the first and of the second window, which may be the same.
  Element* output0;
  Element* output1;
  std::int32_t channels;  // >= 1
  /// The limits of results, as often as a word has room for them. Where Products::kLimitsAreOptional is true, `least`
  /// is more than `most` if they need not be looked at.
  std::uint32_t least;
  std::uint32_t most;
};

using PairProducts = PairProductsOf<std::int8_t>;

/// Where the inputs of a window lie: `rows` times `segments` segments, inputs that lie side by side, of which each has
/// fours, which are taken four at a time, and a rest. Steps are numbers of inputs.
struct PairSegments {
  std::int32_t sixteens;  // of a segment, >= 0
  std::int32_t more;      // 0 if they are all of it
  std::int32_t words;     // fours of a segment behind them, 0 to 3
  std::int32_t rest;      // inputs of a segment behind them, 0 to 3
  std::int32_t segments;  // of a row, >= 1
  std::int32_t rows;      // >= 1
  std::int32_t step;      // from the end of a segment to the next one of the row
  std::int32_t row_step;  // to be added to `step` behind the last segment of a row
  std::int32_t
      rests;  // bytes from the first of the widened inputs to the rests, which follow all fours
};

namespace pair_products {

inline constexpr std::int32_t kBlock = 4;   // channels
inline constexpr std::int32_t kScales = 3;  // words for each
inline constexpr std::int32_t kFloorBits = 12;

inline std::int32_t low_half(std::int32_t pair) { return static_cast<std::int16_t>(pair & 0xFFFF); }
inline std::int32_t high_half(std::int32_t pair) { return pair >> 16; }

/// LSL by a register: amounts are taken modulo 256, and from 32 on nothing is left.
inline std::int32_t shift_left(std::int32_t value, std::int32_t amount) {
  const std::uint32_t by = static_cast<std::uint32_t>(amount) & 0xFF;
  return by < 32 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << by) : 0;
}
/// ASR by a register.
inline std::int32_t shift_right(std::int32_t value, std::int32_t amount) {
  const std::uint32_t by = static_cast<std::uint32_t>(amount) & 0xFF;
  return value >> (by < 32 ? by : 31);
}
/// SMMLA, or SMMLAR with `half` = 2^31: (a * b + half) / 2^32 + c.
inline std::int32_t multiply_high(std::int32_t a, std::int32_t b, std::int32_t c,
                                  std::int64_t half) {
  return wrapping_add(static_cast<std::int32_t>((static_cast<std::int64_t>(a) * b + half) >> 32),
                      c);
}
/// SSAT #8.
inline std::int32_t saturate(std::int32_t value) {
  return value < -128 ? -128 : value > 127 ? 127 : value;
}

/// Form::FLOOR of requantization.py.
struct Floor {
  static std::int32_t requantize(std::int32_t sum, const std::int32_t* scale) {
    return finish(shift_left(sum, scale[0]), scale);
  }
  static std::int32_t finish(std::int32_t shifted, const std::int32_t* scale) {
    return saturate(multiply_high(shifted, scale[1], scale[2], 0) >> kFloorBits);
  }
};

/// Form::ANY.
struct Any {
  static std::int32_t requantize(std::int32_t sum, const std::int32_t* scale) {
    return finish(wrapping_add(sum, sum), scale);
  }
  static std::int32_t finish(std::int32_t doubled, const std::int32_t* scale) {
    const std::int32_t scaled = multiply_high(doubled, scale[1], scale[2], std::int64_t{1} << 31);
    return saturate(shift_right(wrapping_add(scaled, doubled >> 31), scale[0]));
  }
};

/// The same of sums of products with weights of 4 bits: of two words for a channel, the first one is 2^8 times what its sum
/// starts with and has the shift in its lowest bits, and the second one is the multiplier. `common`, a word for all channels
/// of a block, gives their corrections. The shift of FLOOR is less by two, for a sum that is shifted by them before; the word
/// is half a step of the first rounding before the shift.
inline constexpr std::int32_t kStartBits = 8;
struct NibbleFloor {
  static std::int32_t requantize(std::int32_t sum, const std::int32_t* scale, std::int32_t common) {
    constexpr std::int32_t kLeft = 2;
    const std::int32_t whole =
        wrapping_add(scale[0] >> (kStartBits - kLeft), shift_left(sum, kLeft));
    // FLOOR is for a zero point of -128; both roundings add a half.
    const std::int32_t correction =
        wrapping_add(shift_left(common, scale[0]), (1 << 11) - (128 << kFloorBits));
    const std::int32_t words[] = {0, scale[1], correction};
    return Floor::finish(shift_left(whole, scale[0]), words);
  }
};
/// The shift is less by one; the word is the zero point of the output and a half, in halves.
struct NibbleAny {
  static std::int32_t requantize(std::int32_t sum, const std::int32_t* scale, std::int32_t common) {
    const std::int32_t doubled = wrapping_add(scale[0] >> (kStartBits - 1), shift_left(sum, 1));
    const std::int32_t words[] = {wrapping_add(scale[0], 1), scale[1],
                                  shift_left(common, scale[0])};
    return Any::finish(doubled, words);
  }
};

/// What requantizes the channels of a block.
template <typename Form>
struct Scales {
  static constexpr std::int32_t kStarts =
      kBlock;                                 // words before the weights: of sums for inputs of 0
  static constexpr std::int32_t kCommon = 0;  // words before those of channels
  static constexpr std::int32_t kWords = kScales;  // of a channel
  static std::int32_t requantize(std::int32_t sum, const std::int32_t* scale,
                                 const std::int32_t* /*common*/) {
    return Form::requantize(sum, scale);
  }
};
template <typename Form>
struct NibbleScales {
  static constexpr std::int32_t kStarts = 0;
  static constexpr std::int32_t kCommon = 1;
  static constexpr std::int32_t kWords = 2;
  static std::int32_t requantize(std::int32_t sum, const std::int32_t* scale,
                                 const std::int32_t* common) {
    return Form::requantize(sum, scale, *common);
  }
};
template <>
struct Scales<NibbleFloor> : NibbleScales<NibbleFloor> {};
template <>
struct Scales<NibbleAny> : NibbleScales<NibbleAny> {};

/// Adds the products of the pairs [input, end) with the weights of 4 channels, from `table` on, and returns its end.
struct Bytes {
  static const std::int32_t* add(std::uint32_t (&sums)[2][kBlock], const std::int32_t* input,
                                 const std::int32_t* end, const std::int32_t* table) {
    for (; input != end; input += 2) {
      for (std::int32_t half = 0; half < kBlock; half += 2) {
        std::int8_t weights[4];
        std::memcpy(weights, table++, sizeof(weights));
        for (std::int32_t i = 0; i < 2; ++i) {
          for (std::int32_t window = 0; window < 2; ++window) {
            sums[window][half + i] += static_cast<std::uint32_t>(
                low_half(input[window]) * weights[i] + high_half(input[window]) * weights[i + 2]);
          }
        }
      }
    }
    return table;
  }
};

/// The same with 2^8 times the weight of a channel and that of the channel before in 16 bits, of which the lower byte is that
/// of the channel before. Sums are such, too, until the difference of both leaves the channel's own.
struct JointBytes {
  static constexpr std::int32_t kShift = 8;

  template <std::int32_t kChannels>
  static const std::int32_t* add_pair(std::uint32_t (&sums)[kChannels], std::int32_t a,
                                      std::int32_t b, const std::int32_t* table) {
    for (std::int32_t channel = 0; channel < kChannels; channel += 2, ++table) {
      const std::int32_t first = low_half(*table);
      const std::int32_t second = high_half(*table);
      sums[channel] += static_cast<std::uint32_t>(a * static_cast<std::int8_t>(first & 0xFF) +
                                                  b * static_cast<std::int8_t>(second & 0xFF));
      sums[channel + 1] +=
          static_cast<std::uint32_t>(a * first) + static_cast<std::uint32_t>(b * second);
    }
    return table;
  }

  template <std::int32_t kChannels>
  static void separate(std::uint32_t (&sums)[kChannels]) {
    for (std::int32_t channel = 0; channel < kChannels; channel += 2) {
      const auto difference = static_cast<std::int32_t>(sums[channel + 1] - sums[channel]);
      sums[channel + 1] = static_cast<std::uint32_t>(difference >> kShift);
    }
  }

  static const std::int32_t* add(std::uint32_t (&sums)[2][kBlock], const std::int32_t* input,
                                 const std::int32_t* end, const std::int32_t* table) {
    for (; input != end; input += 2) {
      for (std::int32_t window = 0; window < 2; ++window) {
        add_pair(sums[window], low_half(input[window]), high_half(input[window]), table);
      }
      table += kBlock / 2;
    }
    separate(sums[0]);
    separate(sums[1]);
    return table;
  }
};

/// A weight of 4 bits that is stored as 8 more than it is.
inline std::int32_t offset_nibble(std::int32_t word, std::int32_t channel, std::int32_t input) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(word) >> (16 * input + 4 * channel) &
                                   0xF) -
         8;
}

/// The same with a word of 4 bits for each of 4 channels and 2 inputs, which `kWeight` finds in it.
template <std::int32_t (*kWeight)(std::int32_t word, std::int32_t channel, std::int32_t input)>
struct Nibbles {
  static const std::int32_t* add(std::uint32_t (&sums)[2][kBlock], const std::int32_t* input,
                                 const std::int32_t* end, const std::int32_t* table) {
    for (; input != end; input += 2, ++table) {
      for (std::int32_t channel = 0; channel < kBlock; ++channel) {
        for (std::int32_t window = 0; window < 2; ++window) {
          sums[window][channel] +=
              static_cast<std::uint32_t>(low_half(input[window]) * kWeight(*table, channel, 0) +
                                         high_half(input[window]) * kWeight(*table, channel, 1));
        }
      }
    }
    return table;
  }
};

/// A weight of 4 bits that is stored as 8 more than it is, unless it is that of the last of four channels.
inline std::int32_t joint_nibble(std::int32_t word, std::int32_t channel, std::int32_t input) {
  const std::int32_t weight = offset_nibble(word, channel, input);
  return channel < kBlock - 1 ? weight : weight < 0 ? weight + 8 : weight - 8;
}

/// The products of the four weights in 16 bits, which are 1, 16, 256 and 4096 times each. Sums are such, too, so that fewer
/// bits are left of each.
struct JointNibbles {
  static constexpr std::int32_t kBits = 4;

  static const std::int32_t* add(std::uint32_t (&sums)[2][kBlock], const std::int32_t* input,
                                 const std::int32_t* end, const std::int32_t* table) {
    table = Nibbles<joint_nibble>::add(sums, input, end, table);
    for (auto& of_window : sums) {
      for (std::int32_t channel = 0; channel < kBlock; ++channel) {
        of_window[channel] = static_cast<std::uint32_t>(kept(of_window[channel], channel));
      }
    }
    return table;
  }

  /// The bits that are left of a sum of one of the four channels.
  static std::int32_t kept(std::uint32_t sum, std::int32_t channel) {
    return static_cast<std::int32_t>(sum << kBits * channel) >> kBits * channel;
  }
};

/// The same for wide sums: those of the last channel, which are shifted most, are added up in 32 bits for each kInputs inputs, whose
/// products have 19 bits. So nothing of these is lost, but of the others as before.
struct WideNibbles {
  static constexpr std::int32_t kInputs = 504;

  static const std::int32_t* add(std::uint32_t (&sums)[2][kBlock], const std::int32_t* input,
                                 const std::int32_t* end, const std::int32_t* table) {
    table = Nibbles<joint_nibble>::add(sums, input, end, table);
    for (auto& of_window : sums) {
      for (std::int32_t channel = 0; channel < kBlock - 1; ++channel) {
        of_window[channel] =
            static_cast<std::uint32_t>(JointNibbles::kept(of_window[channel], channel));
      }
    }
    return table;
  }
};

/// `Form` has requantize(sum, scale), unless Scales says otherwise, and `Weights` the function of Bytes.
template <typename Form, typename Weights = Bytes, typename Element>
void multiply(const PairProductsOf<Element>& p) {
  constexpr std::uint32_t kMask = (1u << 8 * sizeof(Element)) - 1;
  const std::int32_t* table = p.table;
  const auto least = static_cast<Element>(p.least & kMask);
  const auto most = static_cast<Element>(p.most & kMask);
  for (std::int32_t channel = 0; channel < p.channels; channel += kBlock) {
    std::uint32_t sums[2][kBlock];
    for (std::int32_t i = 0; i < kBlock; ++i) {
      sums[0][i] = sums[1][i] =
          Scales<Form>::kStarts == 0 ? 0 : static_cast<std::uint32_t>(*table++);
    }
    table = Weights::add(sums, p.inputs, p.inputs_end, table);
    const std::int32_t* const common = table;
    table += Scales<Form>::kCommon;
    for (std::int32_t i = 0; i < kBlock; ++i, table += Scales<Form>::kWords) {
      if (channel + i < p.channels) {
        for (std::int32_t window = 0; window < 2; ++window) {
          const std::int32_t value =
              Scales<Form>::requantize(static_cast<std::int32_t>(sums[window][i]), table, common);
          (window == 0 ? p.output0 : p.output1)[channel + i] =
              static_cast<Element>(value < least  ? least
                                   : value > most ? most
                                                  : value);
        }
      }
    }
  }
}

/// Widens `words` > 0 times 4 bytes of two windows: inputs 0 and 2 of `a` and of `b`, then 1 and 3.
inline void widen(const std::int8_t* a, const std::int8_t* b, std::int32_t* out,
                  std::int32_t words) {
  const auto pair = [](std::int8_t low, std::int8_t high) {
    return static_cast<std::int32_t>((static_cast<std::uint32_t>(low) & 0xFFFF) |
                                     static_cast<std::uint32_t>(high) << 16);
  };
  for (std::int32_t i = 0; i < words; ++i, a += 4, b += 4) {
    *out++ = pair(a[0], a[2]);
    *out++ = pair(b[0], b[2]);
    *out++ = pair(a[1], a[3]);
    *out++ = pair(b[1], b[3]);
  }
}

/// Widens input `i` of two windows to where widen() would put it.
inline void widen_one(std::int8_t a, std::int8_t b, std::int32_t* out, std::int32_t i) {
  auto* const bytes = reinterpret_cast<unsigned char*>(out + i / 4 * 4 + i % 2 * 2) +
                      i % 4 / 2 * sizeof(std::int16_t);
  const std::int16_t wide[] = {a, b};
  std::memcpy(bytes, wide, sizeof(wide[0]));
  std::memcpy(bytes + sizeof(*out), wide + 1, sizeof(wide[1]));
}

}  // namespace pair_products

/// The functions for plain C++.
struct PlainPairProducts {
  using Element = std::int8_t;

  static void widen(const std::int8_t* a, const std::int8_t* b, std::int32_t* out,
                    std::int32_t words) {
    pair_products::widen(a, b, out, words);
  }
  static void widen_one(std::int8_t a, std::int8_t b, std::int32_t* out, std::int32_t i) {
    pair_products::widen_one(a, b, out, i);
  }
  static void multiply_floor(const PairProducts& products) {
    pair_products::multiply<pair_products::Floor>(products);
  }
  static void multiply_any(const PairProducts& products) {
    pair_products::multiply<pair_products::Any>(products);
  }
};

/// The same for weights of 4 bits: `table` has no sums, one word for 4 channels and 2 inputs as pair_products::JointNibbles
/// takes it, and the scales of NibbleFloor or NibbleAny.
struct PlainNibblePairProducts : PlainPairProducts {
  static void multiply_floor(const PairProducts& products) {
    pair_products::multiply<pair_products::NibbleFloor, pair_products::JointNibbles>(products);
  }
  static void multiply_any(const PairProducts& products) {
    pair_products::multiply<pair_products::NibbleAny, pair_products::JointNibbles>(products);
  }
};

/// The same for wide sums: see pair_products::WideNibbles.
struct PlainWideNibblePairProducts : PlainPairProducts {
  static void multiply_floor(const PairProducts& products) {
    pair_products::multiply<pair_products::NibbleFloor, pair_products::WideNibbles>(products);
  }
  static void multiply_any(const PairProducts& products) {
    pair_products::multiply<pair_products::NibbleAny, pair_products::WideNibbles>(products);
  }
};

/// The same for weights of two channels in 16 bits: see pair_products::JointBytes. Every second sum of `table` is such, too.
struct PlainJointPairProducts : PlainPairProducts {
  static void multiply_floor(const PairProducts& products) {
    pair_products::multiply<pair_products::Floor, pair_products::JointBytes>(products);
  }
  static void multiply_any(const PairProducts& products) {
    pair_products::multiply<pair_products::Any, pair_products::JointBytes>(products);
  }
};

}  // namespace cmsis_nn_delegate::portable
