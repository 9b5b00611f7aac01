// Sizes of convolutions in groups.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable {

/// Returns whether the channels of a convolution are those of several groups, with a multiple of `kOutputs` output
/// channels each. Sizes are positive.
template <std::int32_t kOutputs, typename Args>
bool in_groups_of(const Args& a) {
  const std::int32_t groups = a.input_dims.c / a.filter_dims.c;
  return groups > 1 && groups * a.filter_dims.c == a.input_dims.c &&
         a.output_dims.c % (groups * kOutputs) == 0;
}

}  // namespace cmsis_nn_delegate::portable
