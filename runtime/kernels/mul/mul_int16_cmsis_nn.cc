#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {

Error run_mul_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MulInt16Args*>(args);
  return to_error(arm_elementwise_mul_s16(
      bases.resolve<const std::int16_t>(a.input1), bases.resolve<const std::int16_t>(a.input2), 0,
      0, bases.resolve<std::int16_t>(a.output), 0, a.output_multiplier, a.output_shift,
      a.activation.min, a.activation.max, a.count));
}

// The output may be an input: the function reads every element, or pair, before it writes the
// same element or group.
constexpr KernelOf<payload::Opcode::kMulInt16> kMulInt16 =
    cmsis_nn_kernel(operators::kMulInt16, run_mul_int16).in_place();

}  // namespace cmsis_nn_delegate::cmsis_nn
