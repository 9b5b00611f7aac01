// Copies of elements of any size in nested loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/copy_bytes.h"
#include "runtime/kernels/common/words.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

template <typename Element>
inline void copy_row(const Element* in, Element* out, const payload::CopyAxis& axis) {
  const std::int32_t size = axis.size;
  const std::int32_t input_stride = axis.input_stride;
  const std::int32_t output_stride = axis.output_stride;
  if (output_stride == 1 && input_stride == 1) {
    copy_bytes(in, out, size * static_cast<std::int32_t>(sizeof(Element)));
    return;
  }
  if constexpr (sizeof(Element) == 1) {
    if (output_stride == 1 && input_stride == 0) {
      std::memset(out, *in, static_cast<std::size_t>(size));
      return;
    }
  }
  std::int32_t left = size;
#if CMSIS_NN_DELEGATE_WORDS
  // Fours share what a loop takes. Those that are left over come first, so that pointers never leave their tensors.
  const std::int32_t rest = left & 3;
  for (std::int32_t i = rest; i > 0; --i) {
    *out = *in;
    if (--left == 0) {
      return;
    }
    in += input_stride;
    out += output_stride;
  }
  for (;;) {
    const Element x0 = in[0];
    const Element x1 = in[input_stride];
    const Element x2 = in[2 * input_stride];
    const Element x3 = in[3 * input_stride];
    out[0] = x0;
    out[output_stride] = x1;
    out[2 * output_stride] = x2;
    out[3 * output_stride] = x3;
    left -= 4;
    if (left == 0) {
      return;
    }
    in += 4 * input_stride;
    out += 4 * output_stride;
  }
#else
  for (;;) {
    *out = *in;
    if (--left == 0) {
      return;
    }
    in += input_stride;
    out += output_stride;
  }
#endif
}

#if CMSIS_NN_DELEGATE_WORDS
/// Swaps the odd bytes of `a` and the even ones of `b`.
inline void swap_bytes(std::uint32_t& a, std::uint32_t& b) {
  constexpr std::uint32_t kEven = 0x00FF00FF;
  const std::uint32_t both = ((a >> 8) ^ b) & kEven;
  a ^= both << 8;
  b ^= both;
}

/// Calls block(in, out) for the first of four of `count` >= 4 elements and then for the others, which lie
/// `output_stride` apart in the output. The second four may have elements of the first one.
template <typename Block>
inline void for_fours_of(const std::int8_t* in, std::int8_t* out, std::int32_t count,
                         std::int32_t output_stride, Block block) {
  std::int32_t step = ((count - 1) & 3) + 1;
  for (std::int32_t left = (count + 3) >> 2;;) {
    block(in, out);
    if (--left == 0) {
      return;
    }
    in += step;
    out += step * output_stride;
    step = 4;
  }
}

/// Copies two rows, which lie `distance` apart, so that their bytes take turns.
inline void copy_in_turns(const std::int8_t* in, std::int8_t* out, std::int32_t distance,
                          std::int32_t count) {
  for_fours_of(in, out, count, 2, [distance](const std::int8_t* from, std::int8_t* to) {
    std::uint32_t a = load_word(from);
    std::uint32_t b = load_word(from + distance);
    swap_bytes(a, b);
    store_word(to, lower_halves(a, b));
    store_word(to + 4, upper_halves(a, b));
  });
}

/// Copies four rows, which lie `distance` apart, so that four bytes, one of each, are a word of the output. Words lie
/// `output_stride` apart.
inline void copy_as_columns(const std::int8_t* in, std::int8_t* out, std::int32_t distance,
                            std::int32_t count, std::int32_t output_stride) {
  for_fours_of(in, out, count, output_stride, [=](const std::int8_t* from, std::int8_t* to) {
    std::uint32_t a = load_word(from);
    std::uint32_t b = load_word(from + distance);
    std::uint32_t c = load_word(from + 2 * distance);
    std::uint32_t d = load_word(from + 3 * distance);
    swap_bytes(a, b);
    swap_bytes(c, d);
    store_word(to, lower_halves(a, c));
    store_word(to + output_stride, lower_halves(b, d));
    store_word(to + 2 * output_stride, upper_halves(a, c));
    store_word(to + 3 * output_stride, upper_halves(b, d));
  });
}

/// Copies `rows` whose bytes lie together in the input, if words of the output have one byte of each row.
inline bool copy_words(const std::int8_t* in, std::int8_t* out, const payload::CopyAxis& rows,
                       const payload::CopyAxis& row) {
  if (row.input_stride != 1 || rows.output_stride != 1 || row.size < 4) {
    return false;
  }
  const std::int32_t distance = rows.input_stride;
  if (rows.size == 2 && row.output_stride == 2) {
    copy_in_turns(in, out, distance, row.size);
    return true;
  }
  if (rows.size < 4) {
    return false;
  }
  const std::int32_t output_stride = row.output_stride;
  const std::int32_t count = row.size;
  std::int32_t step = ((rows.size - 1) & 3) + 1;
  for (std::int32_t left = (rows.size + 3) >> 2;;) {
    copy_as_columns(in, out, distance, count, output_stride);
    if (--left == 0) {
      return true;
    }
    in += step * distance;
    out += step;
    step = 4;
  }
}
#endif

/// Copies `rows`.size rows.
template <typename Element>
inline void copy_inner_loops(const Element* in, Element* out, const payload::CopyAxis& rows,
                             const payload::CopyAxis& row) {
#if CMSIS_NN_DELEGATE_WORDS
  if constexpr (sizeof(Element) == 1) {
    if (copy_words(in, out, rows, row)) {
      return;
    }
  }
#endif
  const std::int32_t input_step = rows.input_stride;
  const std::int32_t output_step = rows.output_stride;
  for (std::int32_t left = rows.size;;) {
    copy_row(in, out, row);
    if (--left == 0) {
      return;
    }
    in += input_step;  // pointers never leave their tensors
    out += output_step;
  }
}

/// Computes one call; `Args` is the argument block of a kernel for elements of type Element.
template <typename Element, typename Args>
void copy_strided(const Args& a, const Bases& bases) {
  const auto* in = bases.resolve<const Element>(a.input) + a.input_offset;
  auto* out = bases.resolve<Element>(a.output) + a.output_offset;

  const payload::CopyAxis* const outer[] = {&a.axis0, &a.axis1, &a.axis2, &a.axis3};
  std::int32_t done[] = {0, 0, 0, 0};
  for (;;) {
    copy_inner_loops(in, out, a.axis4, a.axis5);
    // The next step of the innermost outer axis that has one; those inside of it start again.
    int axis = 3;
    while (++done[axis] == outer[axis]->size) {
      done[axis] = 0;
      in -= (outer[axis]->size - 1) * outer[axis]->input_stride;
      out -= (outer[axis]->size - 1) * outer[axis]->output_stride;
      if (--axis < 0) {
        return;
      }
    }
    in += outer[axis]->input_stride;
    out += outer[axis]->output_stride;
  }
}

}  // namespace cmsis_nn_delegate::portable
