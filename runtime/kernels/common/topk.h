// The largest or smallest numbers along the middle one of three dimensions, in order.
#pragma once

#include <cstdint>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Calls `write(index, number, place)` for the result at `index`: the number at `place` of its line. Each result takes a
/// pass over the line, which looks for what comes after the result before, so that nothing has to be kept in between.
template <typename Element, typename Args, typename Write>
void topk(const Args& a, const Bases& bases, Write write) {
  // Copies, because the compiler has to think that stores of bytes change arguments.
  const std::int32_t inner_size = a.inner;
  const std::int32_t axis_size = a.axis;
  const std::int32_t count = a.count;
  const std::int32_t sign = a.largest != 0 ? 1 : -1;
  const auto* input = bases.resolve<const Element>(a.input);

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    for (std::int32_t inner = 0; inner < inner_size; ++inner) {
      const Element* line = input + inner;
      std::int32_t before = INT32_MAX;
      std::int32_t place = -1;
      for (std::int32_t result = 0; result < count; ++result) {
        std::int32_t best = INT32_MIN;
        std::int32_t at = place;
        const Element* element = line;
        for (std::int32_t i = 0; i < axis_size; ++i) {
          const std::int32_t number = sign * *element;
          if (number > best && (number < before || (number == before && i > place))) {
            best = number;
            at = i;
          }
          element += inner_size;
        }
        before = best;
        place = at;
        write((outer * count + result) * inner_size + inner, line[place * inner_size], place);
      }
    }
    input += axis_size * inner_size;
  }
}

}  // namespace cmsis_nn_delegate::portable
