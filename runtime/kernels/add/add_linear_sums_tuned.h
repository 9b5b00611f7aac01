// The inner loop of elementwise sums that an image has.
#pragma once

#include "runtime/kernels/add/add_linear.h"
#include "runtime/kernels/add/add_linear_members.h"
#include "runtime/kernels/tuned/inner_loops.h"

namespace cmsis_nn_delegate::tuned {

extern "C" void cmsis_nn_delegate_add_linear(const std::int8_t* a, const std::int8_t* b,
                                             std::int8_t* output, std::int32_t words,
                                             const portable::LinearSum* p);

struct AssemblyLinearSums {
  static void add(const std::int8_t* a, const std::int8_t* b, std::int8_t* output,
                  std::int32_t words, const portable::LinearSum& p) {
    cmsis_nn_delegate_add_linear(a, b, output, words, &p);
  }
};

using LinearSums = DspOrMve<AssemblyLinearSums, portable::PlainLinearSums>;

}  // namespace cmsis_nn_delegate::tuned
