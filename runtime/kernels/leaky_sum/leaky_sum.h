// Computes sums that decay in plain C++.
#pragma once

#include "runtime/kernels/common/kept_sum.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// `decay(entry, index)` is that of an element, which has one of the entries.
template <typename Args, typename Decay>
Error compute_leaky_sum(const Args& a, const Bases& bases, const Decay& decay) {
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* gains = bases.resolve<const std::int32_t>(a.gains);
  const std::int32_t offset = a.input_offset;
  const std::int32_t size = a.inner;
  KeptSum sum(a, bases);
  std::int32_t index = 0;
  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    for (std::int32_t entry = 0; entry < a.entries; ++entry) {
      const std::int32_t gain = gains[entry];
      for (std::int32_t inner = 0; inner < size; ++inner, ++index) {
        sum.put(decay(entry, index), std::int64_t{input[index] + offset} * gain);
      }
    }
  }
  return Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
