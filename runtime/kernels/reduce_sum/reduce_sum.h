// The sum over the middle one of three dimensions, for elements of any type.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/small_requantizer.h"
#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"
#include "runtime/kernels/reduce_sum/byte_sums.h"
#include "runtime/payload/bases.h"

namespace cmsis_nn_delegate::portable {

#if CMSIS_NN_DELEGATE_VECTORS
/// The sum of `count` elements that lie together, modulo 2^32, added to `sum`.
inline std::int32_t sum_of_run(std::int32_t sum, const std::int8_t* input, std::int32_t count) {
  for (std::int32_t i = 0; i < count; i += 16) {
    const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(count - i));
    sum = vaddvaq_s8(sum, vldrbq_z_s8(input + i, lanes));
  }
  return sum;
}
inline std::int32_t sum_of_run(std::int32_t sum, const std::int16_t* input, std::int32_t count) {
  for (std::int32_t i = 0; i < count; i += 8) {
    const mve_pred16_t lanes = vctp16q(static_cast<std::uint32_t>(count - i));
    sum = vaddvaq_s16(sum, vldrhq_z_s16(input + i, lanes));
  }
  return sum;
}

/// Adds up `count` rows of `size` elements each, beginning with `start`, and stores what result() makes of the sums of
/// four columns.
template <typename Element, typename Result>
inline void sum_of_rows(std::int32_t start, const Element* input, std::int32_t count,
                        std::int32_t size, Element* output, Result result) {
  std::int32_t column = 0;
  for (; column + 16 <= size; column += 16) {  // 16 sums share the cost of the loop
    int32x4_t first = vdupq_n_s32(start);
    int32x4_t second = first;
    int32x4_t third = first;
    int32x4_t fourth = first;
    for (std::int32_t i = 0; i < count; ++i) {
      const Element* row = input + i * size + column;
      first = vaddq_s32(first, load_four(row));
      second = vaddq_s32(second, load_four(row + 4));
      third = vaddq_s32(third, load_four(row + 8));
      fourth = vaddq_s32(fourth, load_four(row + 12));
    }
    store_four(output + column, result(first));
    store_four(output + column + 4, result(second));
    store_four(output + column + 8, result(third));
    store_four(output + column + 12, result(fourth));
  }
  for_fours(size - column, [&](std::int32_t i, auto... lanes) {
    int32x4_t sum = vdupq_n_s32(start);
    for (std::int32_t row = 0; row < count; ++row) {
      sum = vaddq_s32(sum, load_four(input + row * size + column + i, lanes...));
    }
    store_four(output + column + i, result(sum), lanes...);
  });
}
#endif

/// `input_offset` is -zero_point of the input, and `output_offset` the zero point of the output.
template <typename Element, typename Args>
inline void reduce_sum(const Args& a, const Bases& bases, std::int32_t input_offset,
                       std::int32_t output_offset) {
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);
  const std::int32_t size = a.inner;
  // Added once in the place of to each element, so that no register holds it in the inner loops, which have none to spare.
  const std::int32_t start = wrapping_mul(a.axis, input_offset);
  const auto result = [&a, output_offset](std::int32_t sum) {
    const std::int32_t scaled = requantize(sum, a.output_multiplier, a.output_shift);
    return clamp_to<Element>(wrapping_add(scaled, output_offset), a.activation);
  };

#if CMSIS_NN_DELEGATE_VECTORS
  // Copies, because the compiler has to think that stores of bytes change arguments.
  const std::int32_t multiplier = a.output_multiplier;
  const std::int32_t shift = a.output_shift;
  const auto limits = a.activation;
  const auto results = [=](int32x4_t sums) {
    const int32x4_t scaled = requantize_four(sums, multiplier, shift);
    return clamp_four(vaddq_n_s32(scaled, output_offset), limits);
  };
  // With 16 bits, offsets and limits are applied to eight sums at once; what saturates exceeds the limits all the same.
  const auto byte_results = [=](const EightTotals& sums) {
    const int16x8_t even =
        vqmovnbq_s32(vdupq_n_s16(0), requantize_four(sums.even, multiplier, shift));
    const int16x8_t both = vqmovntq_s32(even, requantize_four(sums.odd, multiplier, shift));
    const int16x8_t moved = vqaddq_n_s16(both, static_cast<std::int16_t>(output_offset));
    const int16x8_t raised = vmaxq_s16(moved, vdupq_n_s16(static_cast<std::int16_t>(limits.min)));
    return vminq_s16(raised, vdupq_n_s16(static_cast<std::int16_t>(limits.max)));
  };
  for (std::int32_t outer = 0; outer < a.outer; ++outer, input += a.axis * size, output += size) {
    if (size == 1) {
      *output = result(sum_of_run(start, input, a.axis));
    } else if constexpr (sizeof(Element) == 1) {
      sum_of_byte_rows(start, input, a.axis, size, output, byte_results);
    } else {
      sum_of_rows(start, input, a.axis, size, output, results);
    }
  }
#else
  constexpr bool kInWords = CMSIS_NN_DELEGATE_WORDS && sizeof(Element) == 1;
#if CMSIS_NN_DELEGATE_WORDS
  const std::int32_t multiplier = a.output_multiplier;
  const std::int32_t shift = a.output_shift;
  // So many distances of a byte to the zero point are small enough for SmallRequantizer.
  const bool small = a.axis < (std::int32_t{1} << 30) / 255 >> (shift > 0 ? shift : 0);
  const SmallRequantizer scale(multiplier, small ? shift : 0);
  const std::uint32_t least = repeated<std::int8_t>(a.activation.min);
  const std::uint32_t most = repeated<std::int8_t>(a.activation.max);
  const auto four_results = [=](const std::int32_t* sums) {
    const auto byte = [&](std::int32_t sum) { return __ssat(scale(sum) + output_offset, 8); };
    const std::uint32_t bytes =
        join_bytes(byte(sums[0]), byte(sums[1]), byte(sums[2]), byte(sums[3]));
    return limit_four(bytes, least, most);
  };
#endif
  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    std::int32_t inner = 0;
#if CMSIS_NN_DELEGATE_WORDS
    if constexpr (sizeof(Element) == 1) {
      if (size == 1) {
        *output++ = result(sum_of_bytes(start, input, a.axis));
        input += a.axis;
        continue;
      }
      if (small) {
        inner = sum_of_byte_rows(start, input, a.axis, size, output, four_results);
        output += inner;
      }
    }
#endif
    constexpr std::int32_t kAtATime = 4;  // sums, which share what a loop takes
    for (; !kInWords && inner + kAtATime <= size; inner += kAtATime) {
      std::int32_t sums[kAtATime] = {start, start, start, start};
      const Element* element = input + inner;
      for (std::int32_t i = a.axis; i > 0; --i, element += size) {
        sums[0] = wrapping_add(sums[0], element[0]);
        sums[1] = wrapping_add(sums[1], element[1]);
        sums[2] = wrapping_add(sums[2], element[2]);
        sums[3] = wrapping_add(sums[3], element[3]);
      }
      for (const std::int32_t sum : sums) {
        *output++ = result(sum);
      }
    }
    for (; inner < size; ++inner) {
      std::int32_t sum = start;
      const Element* element = input + inner;
      for (std::int32_t i = a.axis; i > 0; --i, element += size) {
        sum = wrapping_add(sum, *element);
      }
      *output++ = result(sum);
    }
    input += a.axis * size;
  }
#endif
}

}  // namespace cmsis_nn_delegate::portable
