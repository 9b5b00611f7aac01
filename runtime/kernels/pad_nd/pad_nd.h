// Padding of elements of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

inline constexpr std::int32_t kFill = -1;

// The modes, as PadNdArgs numbers them.
inline constexpr std::int32_t kConstant = 0;
inline constexpr std::int32_t kReflect = 1;
inline constexpr std::int32_t kReplicate = 2;

/// Which element lies at `position` of a dimension of `size` elements, or kFill.
inline std::int32_t element_at(std::int32_t position, std::int32_t size, std::int32_t mode) {
  if (position >= 0 && position < size) {
    return position;
  }
  switch (mode) {
    case kConstant:
      return kFill;
    case kReflect:
      return position < 0 ? -position : 2 * (size - 1) - position;
    case kReplicate:
      return position < 0 ? 0 : size - 1;
    default: {
      const std::int32_t rest = position % size;
      return rest < 0 ? rest + size : rest;
    }
  }
}

template <typename Element, typename Number>
Element* fill_rows(Element* out, std::int32_t elements, Number fill) {
  if constexpr (sizeof(Element) == 1) {
    std::memset(out, static_cast<int>(fill), static_cast<std::size_t>(elements));
    return out + elements;
  }
  Element* const end = out + elements;
  while (out != end) {
    *out++ = static_cast<Element>(fill);
  }
  return out;
}

/// Writes the innermost axis, and returns the end of what it wrote; `in` is where its input starts.
template <typename Element, typename Args>
Element* pad_innermost(const Element* in, Element* out, const Args& a) {
  const payload::PadAxis& axis = a.axis5;
  for (std::int32_t i = 0; i < axis.output_size;) {
    const std::int32_t position = i - axis.before;
    const std::int32_t element = element_at(position, axis.input_size, a.mode);
    // Rows of the input, and rows of the constant, come together.
    std::int32_t rows = 1;
    if (element == kFill) {
      rows = position < 0 ? -position : axis.output_size;
    } else if (element == position) {
      rows = axis.input_size - position;
    }
    const std::int32_t left = axis.output_size - i;
    rows = rows < left ? rows : left;
    if (element == kFill) {
      out = fill_rows(out, rows * a.row_size, a.fill);
    } else {
      std::memcpy(out, in + element * a.row_size,
                  static_cast<std::size_t>(rows * a.row_size) * sizeof(Element));
      out += rows * a.row_size;
    }
    i += rows;
  }
  return out;
}

/// Computes one call; `Args` is the argument block of a kernel for elements of type Element.
template <typename Element, typename Args>
void pad_dimensions(const Args& a, const Bases& bases) {
  const auto* input = bases.resolve<const Element>(a.input);
  auto* out = bases.resolve<Element>(a.output);

  const payload::PadAxis* const outer[] = {&a.axis0, &a.axis1, &a.axis2, &a.axis3, &a.axis4};
  std::int32_t done[] = {0, 0, 0, 0, 0};
  for (;;) {
    // Where the innermost axis starts in the input, unless all of it is the constant.
    std::int32_t row = 0;
    bool filled = false;
    for (unsigned i = 0; i < 5; ++i) {
      const payload::PadAxis& axis = *outer[i];
      const std::int32_t element = element_at(done[i] - axis.before, axis.input_size, a.mode);
      filled = filled || element == kFill;
      row = row * axis.input_size + element;
    }
    out = filled ? fill_rows(out, a.axis5.output_size * a.row_size, a.fill)
                 : pad_innermost(input + row * a.axis5.input_size * a.row_size, out, a);
    int axis = 4;
    while (++done[axis] == outer[axis]->output_size) {
      done[axis] = 0;
      if (--axis < 0) {
        return;
      }
    }
  }
}

}  // namespace cmsis_nn_delegate::portable
