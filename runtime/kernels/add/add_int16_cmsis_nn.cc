#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {

Error run_add_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::AddInt16Args*>(args);
  return to_error(arm_elementwise_add_s16(
      bases.resolve<const std::int16_t>(a.input1), bases.resolve<const std::int16_t>(a.input2), 0,
      a.input1_multiplier, a.input1_shift, 0, a.input2_multiplier, a.input2_shift, a.left_shift,
      bases.resolve<std::int16_t>(a.output), 0, a.output_multiplier, a.output_shift,
      a.activation.min, a.activation.max, a.count));
}

// The output may be an input: arm_elementwise_add_s16 reads every element, or pair, before it
// writes the same element or group.
constexpr KernelOf<payload::Opcode::kAddInt16> kAddInt16 =
    cmsis_nn_kernel(operators::kAddInt16, run_add_int16).in_place();

}  // namespace cmsis_nn_delegate::cmsis_nn
