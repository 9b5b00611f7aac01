// The maximum or minimum over the middle one of three dimensions.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

#if CMSIS_NN_DELEGATE_VECTORS
// Vectors of Elements: `kCount` of them, or fewer with a predicate.
inline mve_pred16_t first_of(const std::int8_t*, std::int32_t count) {
  return vctp8q(static_cast<std::uint32_t>(count));
}
inline mve_pred16_t first_of(const std::int16_t*, std::int32_t count) {
  return vctp16q(static_cast<std::uint32_t>(count));
}
inline int8x16_t load(const std::int8_t* from) { return vldrbq_s8(from); }
inline int16x8_t load(const std::int16_t* from) { return vldrhq_s16(from); }
inline int8x16_t load(const std::int8_t* from, mve_pred16_t lanes) {
  return vldrbq_z_s8(from, lanes);
}
inline int16x8_t load(const std::int16_t* from, mve_pred16_t lanes) {
  return vldrhq_z_s16(from, lanes);
}
inline void store(std::int8_t* to, int8x16_t values) { vstrbq_s8(to, values); }
inline void store(std::int16_t* to, int16x8_t values) { vstrhq_s16(to, values); }
inline void store(std::int8_t* to, int8x16_t values, mve_pred16_t lanes) {
  vstrbq_p_s8(to, values, lanes);
}
inline void store(std::int16_t* to, int16x8_t values, mve_pred16_t lanes) {
  vstrhq_p_s16(to, values, lanes);
}
#endif

/// The larger and the smaller one of two elements: `better(a, b)` says that `a` replaces `b`.
struct Largest {
  static bool better(std::int32_t a, std::int32_t b) { return a > b; }
#if CMSIS_NN_DELEGATE_VECTORS
  static int8x16_t of_each(int8x16_t a, int8x16_t b) { return vmaxq_s8(a, b); }
  static int16x8_t of_each(int16x8_t a, int16x8_t b) { return vmaxq_s16(a, b); }
  static std::int8_t of_all(std::int8_t a, int8x16_t b) { return vmaxvq_s8(a, b); }
  static std::int16_t of_all(std::int16_t a, int16x8_t b) { return vmaxvq_s16(a, b); }
  static std::int8_t of_all(std::int8_t a, int8x16_t b, mve_pred16_t lanes) {
    return vmaxvq_p_s8(a, b, lanes);
  }
  static std::int16_t of_all(std::int16_t a, int16x8_t b, mve_pred16_t lanes) {
    return vmaxvq_p_s16(a, b, lanes);
  }
#endif
};
struct Smallest {
  static bool better(std::int32_t a, std::int32_t b) { return a < b; }
#if CMSIS_NN_DELEGATE_VECTORS
  static int8x16_t of_each(int8x16_t a, int8x16_t b) { return vminq_s8(a, b); }
  static int16x8_t of_each(int16x8_t a, int16x8_t b) { return vminq_s16(a, b); }
  static std::int8_t of_all(std::int8_t a, int8x16_t b) { return vminvq_s8(a, b); }
  static std::int16_t of_all(std::int16_t a, int16x8_t b) { return vminvq_s16(a, b); }
  static std::int8_t of_all(std::int8_t a, int8x16_t b, mve_pred16_t lanes) {
    return vminvq_p_s8(a, b, lanes);
  }
  static std::int16_t of_all(std::int16_t a, int16x8_t b, mve_pred16_t lanes) {
    return vminvq_p_s16(a, b, lanes);
  }
#endif
};

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
/// The better one of each of four bytes.
template <typename Extremum>
inline std::uint32_t of_four(std::uint32_t a, std::uint32_t b);
template <>
inline std::uint32_t of_four<Largest>(std::uint32_t a, std::uint32_t b) {
  __ssub8(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));  // says where a >= b
  return __sel(a, b);
}
template <>
inline std::uint32_t of_four<Smallest>(std::uint32_t a, std::uint32_t b) {
  __ssub8(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
  return __sel(b, a);
}

/// The extremum of `count` >= 4 bytes that lie together. The last word may have bytes of the one before.
template <typename Extremum>
inline std::int8_t extremum_of_run(const std::int8_t* input, std::int32_t count) {
  std::uint32_t best = load_word(input + count - 4);
  for (const std::int8_t* const end = input + (count & ~3); input != end; input += 4) {
    best = of_four<Extremum>(load_word(input), best);
  }
  best = of_four<Extremum>(best >> 16, best);
  return static_cast<std::int8_t>(of_four<Extremum>(best >> 8, best));
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
      best = of_four<Extremum>(load_word(row), best);
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
