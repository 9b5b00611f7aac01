#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {

Error run_max_pool2d_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MaxPool2dInt16Args*>(args);
  const cmsis_nn_context context = {nullptr, 0};
  const cmsis_nn_pool_params params = widened(a.params);
  return to_error(arm_max_pool_s16(
      &context, &params, native(a.input_dims), bases.resolve<const std::int16_t>(a.input),
      native(a.filter_dims), native(a.output_dims), bases.resolve<std::int16_t>(a.output)));
}

constexpr KernelOf<payload::Opcode::kMaxPool2dInt16> kMaxPool2dInt16 =
    cmsis_nn_kernel(operators::kMaxPool2dInt16, run_max_pool2d_int16);

}  // namespace cmsis_nn_delegate::cmsis_nn
