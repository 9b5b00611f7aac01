// The index of the maximum or minimum along the middle one of three dimensions.
#pragma once

#include <cstring>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// `better(a, b)` says that `a` replaces `b`, which came first.
template <typename Element, typename Args, typename Better>
void arg_extremum(const Args& a, const Bases& bases, Better better) {
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<std::uint8_t>(a.output);

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    for (std::int32_t inner = 0; inner < a.inner; ++inner) {
      const Element* line = input + inner;
      std::int64_t index = 0;
      Element best = *line;
      for (std::int32_t i = 1; i < a.axis; ++i) {
        line += a.inner;
        if (better(*line, best)) {
          best = *line;
          index = i;
        }
      }
      std::memcpy(output, &index, sizeof(index));  // it may lie anywhere
      output += sizeof(index);
    }
    input += a.axis * a.inner;
  }
}

}  // namespace cmsis_nn_delegate::portable
