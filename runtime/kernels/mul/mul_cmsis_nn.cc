#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {

Error run_mul(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MulArgs*>(args);
  return to_error(arm_elementwise_mul_s8(
      bases.resolve<const std::int8_t>(a.input1), bases.resolve<const std::int8_t>(a.input2),
      a.input1_offset, a.input2_offset, bases.resolve<std::int8_t>(a.output), a.output_offset,
      a.output_multiplier, a.output_shift, a.activation.min, a.activation.max, a.count));
}

// The output may be an input: the function reads every element, or group of four, before it writes the
// same element or group.
constexpr KernelOf<payload::Opcode::kMul> kMul =
    cmsis_nn_kernel(operators::kMul, run_mul).in_place();

}  // namespace cmsis_nn_delegate::cmsis_nn
