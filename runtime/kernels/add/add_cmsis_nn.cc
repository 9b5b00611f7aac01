#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {

Error run_add(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::AddArgs*>(args);
  return to_error(arm_elementwise_add_s8(
      bases.resolve<const std::int8_t>(a.input1), bases.resolve<const std::int8_t>(a.input2),
      a.input1_offset, a.input1_multiplier, a.input1_shift, a.input2_offset, a.input2_multiplier,
      a.input2_shift, a.left_shift, bases.resolve<std::int8_t>(a.output), a.output_offset,
      a.output_multiplier, a.output_shift, a.activation.min, a.activation.max, a.count));
}

// The output may be an input: arm_elementwise_add_s8 reads every element, or group of four, before it
// writes the same element or group.
constexpr KernelOf<payload::Opcode::kAdd> kAdd =
    cmsis_nn_kernel(operators::kAdd, run_add).in_place();

}  // namespace cmsis_nn_delegate::cmsis_nn
