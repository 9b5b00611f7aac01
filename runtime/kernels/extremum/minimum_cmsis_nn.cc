#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/common/broadcast.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

// The function could repeat operands itself, but only pixel by pixel: for_each_row gives it longer rows.
Error minimum_row(const void*, const std::int8_t* input1, const std::int8_t* input2,
                  std::int8_t* output, std::int32_t count) {
  const cmsis_nn_dims dims = {1, 1, 1, count};
  return to_error(arm_minimum_s8(nullptr, input1, &dims, input2, &dims, output, &dims));
}

}  // namespace

Error run_minimum(const void* args, const Bases& bases) {
  return portable::for_each_row(*static_cast<const payload::MinimumArgs*>(args), bases,
                                minimum_row);
}

// The output may be an input of its size: the function reads every element, or vector, before it writes the
// same element or vector.
constexpr KernelOf<payload::Opcode::kMinimum> kMinimum =
    cmsis_nn_kernel(operators::kMinimum, run_minimum).in_place();

}  // namespace cmsis_nn_delegate::cmsis_nn
