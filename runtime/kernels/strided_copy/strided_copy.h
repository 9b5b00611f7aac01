// Copies of elements of any size in nested loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

template <typename Element>
void copy_row(const Element* in, Element* out, const payload::CopyAxis& axis) {
  if (axis.output_stride == 1 && axis.input_stride == 1) {
    std::memcpy(out, in, static_cast<std::size_t>(axis.size) * sizeof(Element));
    return;
  }
  if constexpr (sizeof(Element) == 1) {
    if (axis.output_stride == 1 && axis.input_stride == 0) {
      std::memset(out, *in, static_cast<std::size_t>(axis.size));
      return;
    }
  }
  for (std::int32_t left = axis.size;;) {
    *out = *in;
    if (--left == 0) {
      return;
    }
    in += axis.input_stride;
    out += axis.output_stride;
  }
}

/// Computes one call; `Args` is the argument block of a kernel for elements of type Element.
template <typename Element, typename Args>
void copy_strided(const Args& a, const Bases& bases) {
  const auto* in = bases.resolve<const Element>(a.input) + a.input_offset;
  auto* out = bases.resolve<Element>(a.output) + a.output_offset;

  const payload::CopyAxis* const outer[] = {&a.axis0, &a.axis1, &a.axis2, &a.axis3, &a.axis4};
  std::int32_t done[] = {0, 0, 0, 0, 0};
  for (;;) {
    copy_row(in, out, a.axis5);
    // The next step of the innermost axis that has one; those inside of it start again. Pointers
    // never leave their tensors.
    int axis = 4;
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
