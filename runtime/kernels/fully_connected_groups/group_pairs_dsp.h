// The functions of group_pairs.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include "runtime/kernels/fully_connected_groups/group_pairs.h"
#include "runtime/kernels/fully_connected_groups/group_pairs_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
std::int32_t cmsis_nn_delegate_widen_group(const std::int8_t* from, std::int32_t count,
                                           std::int16_t* to);
void cmsis_nn_delegate_multiply_group_pairs(portable::GroupPairs* pairs);
}

struct DspGroupPairs {
  static std::int32_t widen(const std::int8_t* from, std::int32_t count, std::int16_t* to) {
    return cmsis_nn_delegate_widen_group(from, count, to);
  }
  static void multiply(portable::GroupPairs& pairs) {
    cmsis_nn_delegate_multiply_group_pairs(&pairs);
  }
};

}  // namespace cmsis_nn_delegate::tuned
