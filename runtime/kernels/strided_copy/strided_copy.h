// Copies of elements of any size in nested loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/copy_bytes.h"
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
  for (std::int32_t left = size;;) {
    *out = *in;
    if (--left == 0) {
      return;
    }
    in += input_stride;
    out += output_stride;
  }
}

/// Computes one call; `Args` is the argument block of a kernel for elements of type Element.
template <typename Element, typename Args>
void copy_strided(const Args& a, const Bases& bases) {
  const auto* in = bases.resolve<const Element>(a.input) + a.input_offset;
  auto* out = bases.resolve<Element>(a.output) + a.output_offset;

  const payload::CopyAxis* const outer[] = {&a.axis0, &a.axis1, &a.axis2, &a.axis3};
  const std::int32_t input_step = a.axis4.input_stride;
  const std::int32_t output_step = a.axis4.output_stride;
  std::int32_t done[] = {0, 0, 0, 0};
  for (;;) {
    // Pointers never leave their tensors.
    for (std::int32_t left = a.axis4.size;;) {
      copy_row(in, out, a.axis5);
      if (--left == 0) {
        break;
      }
      in += input_step;
      out += output_step;
    }
    in -= (a.axis4.size - 1) * input_step;
    out -= (a.axis4.size - 1) * output_step;
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
