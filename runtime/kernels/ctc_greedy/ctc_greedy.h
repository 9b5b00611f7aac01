// Greedy CTC decoding, for scores of any type.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

template <typename Element, typename Args>
void ctc_greedy(const Args& a, const Bases& bases) {
  const auto* input = bases.resolve<const Element>(a.input);
  auto* output = bases.resolve<std::uint8_t>(a.output);
  const auto write = [&](std::int64_t number) {
    std::memcpy(output, &number, sizeof(number));  // it may lie anywhere
    output += sizeof(number);
  };

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    std::int32_t before = -1;
    std::int32_t written = 0;
    for (std::int32_t step = 0; step < a.steps; ++step) {
      std::int32_t best = 0;
      for (std::int32_t i = 1; i < a.classes; ++i) {
        if (input[i] > input[best]) {
          best = i;
        }
      }
      input += a.classes;
      if (step >= a.seen && best != before && best != a.blank) {
        write(best);
        ++written;
      }
      before = best;
    }
    for (; written < a.written; ++written) {
      write(-1);
    }
  }
}

}  // namespace cmsis_nn_delegate::portable
