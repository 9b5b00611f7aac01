// The maximum or minimum over the middle one of three dimensions.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/extrema.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

#if CMSIS_NN_DELEGATE_VECTORS
/// The extrema of `count` runs of `size` >= 1 elements that lie together.
template <typename Extremum, typename Element>
inline void extrema_of_runs(const Element* input, std::int32_t count, std::int32_t size,
                            Element* output) {
  constexpr std::int32_t kCount = 16 / sizeof(Element);
  const std::int32_t vectors = size / kCount;
  const std::int32_t rest = size % kCount;
  const mve_pred16_t lanes = first_of(input, rest);
  for (; count > 0; --count) {
    Element best = *input;
    for (std::int32_t left = vectors; left > 0; --left) {
      best = Extremum::of_all(best, load(input));
      input += kCount;
    }
    if (rest > 0) {
      best = Extremum::of_all(best, load(input, lanes), lanes);
      input += rest;
    }
    *output++ = best;
  }
}

/// The extrema of the columns of `count` >= 1 rows of `size` elements each.
template <typename Extremum, typename Element>
inline void extrema_of_rows(const Element* input, std::int32_t count, std::int32_t size,
                            Element* output) {
  constexpr std::int32_t kCount = 16 / sizeof(Element);
  const auto columns = [=](std::int32_t column, auto... lanes) {
    const Element* row = input + column;
    auto best = load(row, lanes...);
    for (std::int32_t left = count - 1; left > 0; --left) {
      row += size;
      best = Extremum::of_each(best, load(row, lanes...));
    }
    store(output + column, best, lanes...);
  };
  std::int32_t column = 0;
  for (; column + kCount <= size; column += kCount) {
    columns(column);
  }
  if (column < size) {
    columns(column, first_of(input, size - column));
  }
}
#endif

#if CMSIS_NN_DELEGATE_WORDS
/// The extremum of `count` >= 4 bytes that lie together. The last word may have bytes of the one before.
template <typename Extremum>
inline std::int8_t extremum_of_run(const std::int8_t* input, std::int32_t count) {
  std::uint32_t best = load_word(input + count - 4);
  for (const std::int8_t* const end = input + (count & ~3); input != end; input += 4) {
    best = Extremum::of_each_byte(load_word(input), best);
  }
  best = Extremum::of_each_byte(best >> 16, best);
  return static_cast<std::int8_t>(Extremum::of_each_byte(best >> 8, best));
}

/// The extrema of the columns of `count` >= 1 rows of `size` bytes each, as far as they are fours. Returns their count.
template <typename Extremum>
inline std::int32_t extrema_of_rows(const std::int8_t* input, std::int32_t count, std::int32_t size,
                                    std::int8_t* output) {
  std::int32_t column = 0;
  for (; column + 4 <= size; column += 4) {
    const std::int8_t* row = input + column;
    std::uint32_t best = load_word(row);
    for (std::int32_t left = count - 1; left > 0; --left) {
      row += size;
      best = Extremum::of_each_byte(load_word(row), best);
    }
    store_word(output + column, best);
  }
  return column;
}
#endif

template <typename Element, typename Extremum, typename Args>
void reduce_extremum(const Args& a, const Bases& bases) {
  // Copies, because the compiler has to think that stores of bytes change arguments.
  const std::int32_t inner_size = a.inner;
  const std::int32_t axis_size = a.axis;
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<Element>(a.output);

#if CMSIS_NN_DELEGATE_VECTORS
  if (inner_size == 1) {
    extrema_of_runs<Extremum>(input, a.outer, axis_size, output);
    return;
  }
  for (std::int32_t left = a.outer; left > 0; --left) {
    extrema_of_rows<Extremum>(input, axis_size, inner_size, output);
    input += axis_size * inner_size;
    output += inner_size;
  }
#else
  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    std::int32_t inner = 0;
#if CMSIS_NN_DELEGATE_WORDS
    if constexpr (sizeof(Element) == 1) {
      if (inner_size == 1 && axis_size >= 4) {
        *output++ = extremum_of_run<Extremum>(input, axis_size);
        input += axis_size;
        continue;
      }
      inner = extrema_of_rows<Extremum>(input, axis_size, inner_size, output);
      output += inner;
    }
#endif
    for (; inner < inner_size; ++inner) {
      const Element* element = input + inner;
      std::int32_t best = *element;
      for (std::int32_t i = 1; i < axis_size; ++i) {
        element += inner_size;
        best = Extremum::better(*element, best) ? *element : best;
      }
      *output++ = static_cast<Element>(best);
    }
    input += axis_size * inner_size;
  }
#endif
}

}  // namespace cmsis_nn_delegate::portable
