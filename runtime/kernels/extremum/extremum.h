// The larger or the smaller one of two elements, for rows of any type.
#pragma once

#include <executorch/runtime/core/error.h>

#include <cstdint>

#include "runtime/kernels/common/extrema.h"

namespace cmsis_nn_delegate::portable {

#if CMSIS_NN_DELEGATE_WORDS
/// The better one of each of the elements of two words.
template <typename Extremum>
inline std::uint32_t of_each_element(const std::int8_t*, std::uint32_t a, std::uint32_t b) {
  return Extremum::of_each_byte(a, b);
}
template <typename Extremum>
inline std::uint32_t of_each_element(const std::int16_t*, std::uint32_t a, std::uint32_t b) {
  return Extremum::of_each_halfword(a, b);
}
#endif

/// Computes `count` >= 1 elements. `Extremum` is Largest or Smallest. The output may be an input.
template <typename Element, typename Extremum>
executorch::runtime::Error extremum_row(const void* /*args*/, const Element* input1,
                                        const Element* input2, Element* output,
                                        std::int32_t count) {
#if CMSIS_NN_DELEGATE_VECTORS
  constexpr std::int32_t kCount = 16 / sizeof(Element);
  for (; count >= kCount; count -= kCount) {
    store(output, Extremum::of_each(load(input1), load(input2)));
    input1 += kCount;
    input2 += kCount;
    output += kCount;
  }
  if (count > 0) {
    const mve_pred16_t lanes = first_of(input1, count);
    store(output, Extremum::of_each(load(input1, lanes), load(input2, lanes)), lanes);
  }
#else
#if CMSIS_NN_DELEGATE_WORDS
  constexpr std::int32_t kCount = 4 / sizeof(Element);
  const auto word = [&](std::int32_t at) {
    store_word(output + at,
               of_each_element<Extremum>(output, load_word(input1 + at), load_word(input2 + at)));
  };
  if (count >= kCount) {
    constexpr std::int32_t kAtATime = 4 * kCount;  // which share what a loop takes
    for (; count >= kAtATime; count -= kAtATime) {
      word(0);
      word(kCount);
      word(2 * kCount);
      word(3 * kCount);
      input1 += kAtATime;
      input2 += kAtATime;
      output += kAtATime;
    }
    for (; count > kCount; count -= kCount) {
      word(0);
      input1 += kCount;
      input2 += kCount;
      output += kCount;
    }
    // It may have elements of the word before. They stay what they are, also where the output is an input.
    if (count > 0) {
      word(count - kCount);
    }
    return executorch::runtime::Error::Ok;
  }
#endif
  for (std::int32_t i = 0; i < count; ++i) {
    output[i] = Extremum::better(input2[i], input1[i]) ? input2[i] : input1[i];
  }
#endif
  return executorch::runtime::Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
