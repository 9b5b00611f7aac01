// Normalization of groups. The variance is exact, in the squared steps of the input times the squared
// size of the group; a root of 32 bits and its reciprocal give the factor for the elements of a group.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/square_root.h"
#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

inline constexpr int kFractionBits = 20;  // of normalized values

/// value / 2^shift, halves up, for a shift of at least 1.
inline std::int64_t rounding_shift_right(std::int64_t value, int shift) {
  return (value + (std::int64_t{1} << (shift - 1))) >> shift;
}

/// factor * 2^-shift is 2^kFractionBits / sqrt(variance + epsilon).
struct Reciprocal {
  std::int64_t factor;
  int shift;
};

template <typename Args>
inline Reciprocal reciprocal_root(const Args& a, std::uint64_t variance) {
  const int bits = 2 * a.half_shift;
  const std::uint64_t scaled = bits >= 0 ? variance << bits : variance >> -bits;
  std::uint64_t sum = scaled + (static_cast<std::uint64_t>(a.epsilon_high) << 31) +
                      static_cast<std::uint64_t>(a.epsilon_low);
  sum = sum == 0 ? 1 : sum;  // then the group is constant, and every factor gives zeros
  const int pairs = __builtin_clzll(sum) / 2;  // of leading zeros
  sum <<= 2 * pairs;
  const std::uint32_t factor = large_reciprocal(large_square_root(sum));
  const int shift = 62 - kFractionBits - pairs - a.half_shift;
  return {std::int64_t{factor}, shift > 1 ? shift : 1};
}

/// value / 2^32, rounded down.
inline std::int32_t upper_half(std::int64_t value) {
  return static_cast<std::int32_t>(
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32));
}

/// What turns the elements of a group into results, in the widest numbers that occur.
template <typename Element, typename Args>
struct WideElements {
  const Args& a;
  Reciprocal root;
  std::int64_t mean;  // times `size`
  std::int32_t size, input_offset, output_offset;

  Element operator()(Element element, std::int32_t weight, std::int32_t bias) const {
    const std::int64_t difference =
        static_cast<std::int64_t>(size) * (element + input_offset) - mean;
    const auto normal =
        static_cast<std::int32_t>(rounding_shift_right(difference * root.factor, root.shift));
    const std::int64_t value = static_cast<std::int64_t>(normal) * weight +
                               static_cast<std::int64_t>(bias) * (std::int64_t{1} << kFractionBits);
    std::int64_t steps = rounding_shift_right(value, kFractionBits + a.parameter_shift);
    // A value far out of range stays there when the zero point is added.
    constexpr std::int64_t kFar = std::int64_t{1} << 30;
    steps = steps > kFar ? kFar : (steps < -kFar ? -kFar : steps);
    return clamp_to<Element>(static_cast<std::int32_t>(steps) + output_offset, a.activation);
  }
};

/// The same for nearly all groups, without shifts of 64 bits: both products are scaled so that the upper 32 bits of 64
/// are the result of the shift.
template <typename Element, typename Args>
struct NarrowElements {
  std::int32_t scale, start;  // difference * 2^(32 - root.shift) = element * scale + start
  std::int32_t factor;
  std::int32_t half;   // in the upper word of a value
  std::int32_t shift;  // of that word
  std::int32_t output_offset;
  decltype(Args::activation) limits;

  /// Returns whether the numbers of `wide` fit.
  static bool fits(const WideElements<Element, Args>& wide) {
    // Elements differ by less than 2^kBits, from each other and from 0.
    constexpr int kBits = 8 * static_cast<int>(sizeof(Element));
    const int left = 32 - wide.root.shift;
    return wide.root.factor < (std::int64_t{1} << 31) && left >= 0 && left < 31 - kBits &&
           wide.size <= (std::int32_t{1} << (31 - kBits - left)) &&
           wide.a.parameter_shift >= kLeastShift;
  }

  explicit NarrowElements(const WideElements<Element, Args>& wide)
      : factor(static_cast<std::int32_t>(wide.root.factor)),
        shift(kFractionBits + wide.a.parameter_shift - 32),
        output_offset(wide.output_offset),
        limits(wide.a.activation) {
    const int left = 32 - wide.root.shift;
    const std::int64_t first = static_cast<std::int64_t>(wide.size) * wide.input_offset - wide.mean;
    scale = wide.size << left;
    // It may be larger than 32 bits where no difference is.
    start = static_cast<std::int32_t>(static_cast<std::uint32_t>(first) << left);
    half = std::int32_t{1} << (shift - 1);
  }

  Element operator()(Element element, std::int32_t weight, std::int32_t bias) const {
    return clamp_to<Element>(unlimited(element, weight, bias), limits);
  }

  /// The result before it is limited.
  std::int32_t unlimited(std::int32_t element, std::int32_t weight, std::int32_t bias) const {
    const std::int32_t difference = wrapping_add(element * scale, start);
#if CMSIS_NN_DELEGATE_WORDS
    const std::int32_t normal = rounded_upper_half(difference, factor);
#else
    constexpr std::int64_t kHalf = std::int64_t{1} << 31;
    const std::int32_t normal = upper_half(static_cast<std::int64_t>(difference) * factor + kHalf);
#endif
    const std::int32_t high = (bias >> (32 - kFractionBits)) + half;
    const std::uint64_t offset =
        (static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32) |
        (static_cast<std::uint32_t>(bias) << kFractionBits);
    const std::int64_t value =
        static_cast<std::int64_t>(normal) * weight + static_cast<std::int64_t>(offset);
    return (upper_half(value) >> shift) + output_offset;
  }

 private:
  // From here on a result of the upper word has two bits less than it, so that the zero point can be added.
  static constexpr int kLeastShift = 34 - kFractionBits;
};

/// Where the elements of a group and their parameters lie.
template <typename Element>
struct Group {
  const Element* input;
  const std::int32_t* weight;
  const std::int32_t* bias;
  Element* output;
  std::int32_t step;  // from an outer step to the next
};

/// Computes the elements of a group. Not inline, so that what `elements` has are numbers of their size to the compiler,
/// whose products it knows to take one instruction.
template <typename Element, typename Args, typename Elements>
[[gnu::noinline]] void normalize_group(const Args& a, const Group<Element>& group,
                                       const Elements& elements) {
  // Stores of int8 may change anything in memory.
  const Elements local = elements;
  const std::int32_t inner = a.inner;
  const std::int32_t inner_step = a.inner_step;
  Group<Element> g = group;
  for (std::int32_t i = 0; i < a.outer; ++i) {
    const Element* input = g.input;
    const std::int32_t* weight = g.weight;
    const std::int32_t* bias = g.bias;
    Element* output = g.output;
    for (std::int32_t left = inner; left > 0; --left) {
      *output++ = local(*input++, *weight, *bias);
      weight += inner_step;
      bias += inner_step;
    }
    g.input += g.step;
    g.output += g.step;
    g.weight += a.outer_step;
    g.bias += a.outer_step;
  }
}

/// Whether elements that lie together are computed several at a time: all in vectors, and bytes in words.
template <typename Element>
inline constexpr bool kInRuns =
    CMSIS_NN_DELEGATE_VECTORS != 0 || (CMSIS_NN_DELEGATE_WORDS != 0 && sizeof(Element) == 1);
/// Elements of a run; shorter ones take longer so.
inline constexpr std::int32_t kLeastInRun = 4;

#if CMSIS_NN_DELEGATE_VECTORS
/// Computes elements that lie together as `e` computes one: all of them with the first parameters, or each with its own.
template <bool kOneParameter, typename Element, typename Args>
inline void normalize_run(const NarrowElements<Element, Args>& e, const Element* input,
                          const std::int32_t* weight, const std::int32_t* bias, Element* output,
                          std::int32_t count) {
  const int32x4_t scale = vdupq_n_s32(e.scale);
  const int32x4_t factor = vdupq_n_s32(e.factor);
  const auto result = [&](int32x4_t x, int32x4_t weights, int32x4_t biases) {
    const int32x4_t normal = vrmulhq_s32(vmlasq_n_s32(x, scale, e.start), factor);
    const int32x4_t high = vaddq_n_s32(vshrq_n_s32(biases, 32 - kFractionBits), e.half);
    const uint32x4_t low = vreinterpretq_u32_s32(vshlq_n_s32(biases, kFractionBits));
    const int32x4_t value = upper_of_sum(normal, weights, high, low);
    return clamp_four(vaddq_n_s32(vshlq_r_s32(value, -e.shift), e.output_offset), e.limits);
  };
  const int32x4_t first_weight = vdupq_n_s32(*weight);
  const int32x4_t first_bias = vdupq_n_s32(*bias);
  for_fours(count, [&](std::int32_t i, auto... lanes) {
    const int32x4_t x = load_four(input + i, lanes...);
    const int32x4_t weights = kOneParameter ? first_weight : load_four(weight + i, lanes...);
    const int32x4_t biases = kOneParameter ? first_bias : load_four(bias + i, lanes...);
    store_four(output + i, result(x, weights, biases), lanes...);
  });
}

/// Adds up `count` elements that lie together, and their squares.
inline void add_up(const std::int8_t* input, std::int32_t count, std::int32_t& sum,
                   std::int64_t& squares) {
  constexpr std::int32_t kPart = 1 << 16;  // whose squares fit 32 bits
  for (std::int32_t begin = 0; begin < count; begin += kPart) {
    const std::int32_t end = count - begin < kPart ? count : begin + kPart;
    std::int32_t part = 0;
    for (std::int32_t i = begin; i < end; i += 16) {
      const int8x16_t x = vldrbq_z_s8(input + i, vctp8q(static_cast<std::uint32_t>(end - i)));
      sum = vaddvaq_s8(sum, x);
      part = vmladavaq_s8(part, x, x);
    }
    squares += part;
  }
}
inline void add_up(const std::int16_t* input, std::int32_t count, std::int32_t& sum,
                   std::int64_t& squares) {
  for (std::int32_t i = 0; i < count; i += 8) {
    const int16x8_t x = vldrhq_z_s16(input + i, vctp16q(static_cast<std::uint32_t>(count - i)));
    sum = vaddvaq_s16(sum, x);
    squares = vmlaldavaq_s16(squares, x, x);
  }
}
#elif CMSIS_NN_DELEGATE_WORDS
/// Computes bytes that lie together as `e` computes one: all of them with the first parameters, or each with its own.
template <bool kOneParameter, typename Args>
inline void normalize_run(const NarrowElements<std::int8_t, Args>& e, const std::int8_t* input,
                          const std::int32_t* weight, const std::int32_t* bias, std::int8_t* output,
                          std::int32_t count) {
  constexpr std::int32_t kStep = kOneParameter ? 0 : 1;
  const std::uint32_t least = repeated<std::int8_t>(e.limits.min);
  const std::uint32_t most = repeated<std::int8_t>(e.limits.max);
  for (const std::int8_t* const end = input + count / 4 * 4; input != end; output += 4) {
    const std::uint32_t word = load_word(input);
    input += 4;
    const auto result = [&](std::uint32_t byte) {
      const std::int32_t element = static_cast<std::int8_t>(byte);
      const std::int32_t value = e.unlimited(element, *weight, *bias);
      weight += kStep;
      bias += kStep;
      return __ssat(value, 8);
    };
    const std::int32_t first = result(word);
    const std::int32_t second = result(word >> 8);
    const std::int32_t third = result(word >> 16);
    const std::int32_t fourth = result(word >> 24);
    store_word(output, limit_four(join_bytes(first, second, third, fourth), least, most));
  }
  for (count %= 4; count > 0; --count) {
    *output++ = e(*input++, *weight, *bias);
    weight += kStep;
    bias += kStep;
  }
}

/// Adds up `count` bytes that lie together, and their squares.
inline void add_up(const std::int8_t* input, std::int32_t count, std::int32_t& sum,
                   std::int64_t& squares) {
  constexpr std::int32_t kPart = 1 << 16;  // whose squares fit 32 bits
  for (std::int32_t begin = 0; begin < count; begin += kPart) {
    const std::int32_t size = count - begin < kPart ? count - begin : kPart;
    std::int32_t part = 0;
    for (const std::int8_t* const end = input + size / 4 * 4; input != end; input += 4) {
      const std::uint32_t word = load_word(input);
      const std::int32_t even = add_even_bytes(0, word);
      const std::int32_t odd = add_odd_bytes(0, word);
      constexpr std::int32_t kOnes = 0x00010001;
      sum = __smlad(odd, kOnes, __smlad(even, kOnes, sum));
      part = __smlad(odd, odd, __smlad(even, even, part));
    }
    for (std::int32_t left = size % 4; left > 0; --left, ++input) {
      sum += *input;
      part += *input * *input;
    }
    squares += part;
  }
}
#endif

#if CMSIS_NN_DELEGATE_VECTORS || CMSIS_NN_DELEGATE_WORDS
/// Computes the elements of a group, whose parameters lie together or are the same for all elements of a run.
template <typename Element, typename Args>
[[gnu::noinline]] void normalize_group_in_runs(const Args& a, const Group<Element>& group,
                                               const NarrowElements<Element, Args>& given) {
  const NarrowElements<Element, Args> elements = given;  // as in normalize_group()
  Group<Element> g = group;
  for (std::int32_t i = 0; i < a.outer; ++i) {
    if (a.inner_step == 0) {
      normalize_run<true>(elements, g.input, g.weight, g.bias, g.output, a.inner);
    } else {
      normalize_run<false>(elements, g.input, g.weight, g.bias, g.output, a.inner);
    }
    g.input += g.step;
    g.output += g.step;
    g.weight += a.outer_step;
    g.bias += a.outer_step;
  }
}
#endif

/// Computes the elements of a group whose numbers fit: in runs where that takes less.
template <typename Element, typename Args>
inline void normalize_narrow_group(const Args& a, const Group<Element>& group,
                                   const NarrowElements<Element, Args>& elements) {
#if CMSIS_NN_DELEGATE_VECTORS || CMSIS_NN_DELEGATE_WORDS
  if constexpr (kInRuns<Element>) {
    if (a.inner >= kLeastInRun && a.inner_step <= 1) {
      normalize_group_in_runs(a, group, elements);
      return;
    }
  }
#endif
  normalize_group(a, group, elements);
}

/// Computes all groups of elements of any type. `input_offset` is -zero_point of the input, and `output_offset` the
/// zero point of the output, which may be the input.
template <typename Element, typename Args>
inline void normalize_groups(const Args& a, const Bases& bases, std::int32_t input_offset,
                             std::int32_t output_offset) {
  const auto* input = bases.resolve<const Element>(a.input);
  const auto* weight = bases.resolve<const std::int32_t>(a.weight);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  auto* output = bases.resolve<Element>(a.output);
  const std::int32_t size = a.outer * a.inner;
  const std::int32_t step = a.interleaved != 0 ? a.groups * a.inner : a.inner;

  std::int32_t group = 0;  // of a batch
  for (std::int32_t row = 0; row < a.rows; ++row) {
    // Of elements as they are stored; what the zero point adds is the same for all.
    std::int32_t stored = 0;
    std::int64_t stored_squares = 0;
    for (std::int32_t i = 0; i < a.outer; ++i) {
#if CMSIS_NN_DELEGATE_VECTORS || CMSIS_NN_DELEGATE_WORDS
      if constexpr (kInRuns<Element>) {
        if (a.inner >= kLeastInRun) {
          add_up(input + i * step, a.inner, stored, stored_squares);
          continue;
        }
      }
#endif
      for (std::int32_t j = 0; j < a.inner; ++j) {
        const std::int32_t x = input[i * step + j];
        stored += x;
        stored_squares += static_cast<std::int64_t>(x) * x;
      }
    }
    const std::int64_t sum = stored + static_cast<std::int64_t>(size) * input_offset;
    const std::int64_t squares = stored_squares + (stored + sum) * input_offset;
    const std::int64_t mean = a.centered != 0 ? sum : 0;  // times `size`
    const std::uint64_t variance =
        static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(squares) -
        static_cast<std::uint64_t>(mean * mean);

    const std::int32_t parameter = group * a.group_step;
    const WideElements<Element, Args> wide = {
        a, reciprocal_root(a, variance), mean, size, input_offset, output_offset};
    const Group<Element> members = {input, weight + parameter, bias + parameter, output, step};
    if (!NarrowElements<Element, Args>::fits(wide)) {
      normalize_group(a, members, wide);
    } else {
      normalize_narrow_group(a, members, NarrowElements<Element, Args>(wide));
    }

    // The next group of the batch, or the first of the next batch.
    ++group;
    std::int32_t next = a.interleaved != 0 ? a.inner : size;
    if (group == a.groups) {
      group = 0;
      next = a.interleaved != 0 ? size * a.groups - a.inner * (a.groups - 1) : size;
    }
    input += next;
    output += next;
  }
}

}  // namespace cmsis_nn_delegate::portable
