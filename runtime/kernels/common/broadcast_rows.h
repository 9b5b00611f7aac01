// How the rows of two operands are walked, for the files that do so for one type of elements.
#pragma once

#include <cstddef>
#include <cstring>

#include "runtime/kernels/common/broadcast_tensors.h"

namespace cmsis_nn_delegate::portable {

using executorch::runtime::Error;
using payload::Dims;

// How many bytes of copies of a short row a call gets: a call costs about as much as 5 to 20 elements.
inline constexpr std::int32_t kCopiesBytes = 128;

/// How far the next element along a dimension is; 0 if the operand is repeated along it.
struct Strides {
  std::int32_t n, h, w;

  explicit Strides(const Dims& d)
      : n(d.n == 1 ? 0 : d.h * d.w * d.c), h(d.h == 1 ? 0 : d.w * d.c), w(d.w == 1 ? 0 : d.c) {}
};

/// Fills `copies` with whole copies of a row of `size` elements: for `count` elements, or as many as there is room
/// for. Returns how many elements they are.
template <typename Element>
std::int32_t fill(Element* copies, const Element* row, std::int32_t size, std::int32_t count) {
  constexpr std::int32_t kRoom = kCopiesBytes / static_cast<std::int32_t>(sizeof(Element));
  const std::int32_t room = count < kRoom ? count : kRoom;
  if constexpr (sizeof(Element) == 1) {
    if (size == 1) {
      std::memset(copies, *row, static_cast<std::size_t>(room));
      return room;
    }
  }
  std::int32_t filled = 0;
  for (; filled + size <= room; filled += size) {
    std::memcpy(copies + filled, row, static_cast<std::size_t>(size) * sizeof(Element));
  }
  return filled;
}

/// Defines for_each_row() for elements of type Element.
template <typename Element>
Error walk_rows(const BroadcastTensors<Element>& t, const void* args, Row<Element> row) {
  constexpr std::int32_t kRoom = kCopiesBytes / static_cast<std::int32_t>(sizeof(Element));
  const Dims& dims = *t.output_dims;
  const Strides strides1(*t.input1_dims);
  const Strides strides2(*t.input2_dims);
  // The operand that is repeated along the row, as a single element or, if the rows are short, as the
  // same row for all indices of w: at most one of them.
  std::int32_t unit1 = t.input1_dims->c != dims.c ? 1 : 0;
  std::int32_t unit2 = t.input2_dims->c != dims.c ? 1 : 0;
  std::int32_t rows = dims.w;
  std::int32_t count = dims.c;
  if (unit1 == 0 && unit2 == 0 && rows > 1 && 2 * count <= kRoom) {
    unit1 = strides1.w == 0 ? count : 0;
    unit2 = strides2.w == 0 ? count : 0;
    if (unit1 != 0 || unit2 != 0) {
      count *= rows;
      rows = 1;
    }
  }
  Element copies[kRoom];
  Element* output = t.output;
  for (std::int32_t n = 0; n < dims.n; ++n) {
    for (std::int32_t h = 0; h < dims.h; ++h) {
      const Element* input1 = t.input1 + n * strides1.n + h * strides1.h;
      const Element* input2 = t.input2 + n * strides2.n + h * strides2.h;
      for (std::int32_t w = 0; w < rows; ++w) {
        std::int32_t most = count;
        if (unit1 != 0) {
          most = fill(copies, input1, unit1, count);
        } else if (unit2 != 0) {
          most = fill(copies, input2, unit2, count);
        }
        for (std::int32_t done = 0; done < count; done += most) {
          const std::int32_t now = count - done < most ? count - done : most;
          const Error error = row(args, unit1 != 0 ? copies : input1 + done,
                                  unit2 != 0 ? copies : input2 + done, output, now);
          if (error != Error::Ok) {
            return error;
          }
          output += now;
        }
        input1 += strides1.w;
        input2 += strides2.w;
      }
    }
  }
  return Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
