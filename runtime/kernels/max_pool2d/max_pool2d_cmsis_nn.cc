#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {

Error run_max_pool2d(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MaxPool2dArgs*>(args);
  const cmsis_nn_context context = {nullptr, 0};
  return to_error(arm_max_pool_s8(&context, native(a.params), native(a.input_dims),
                                  bases.resolve<const std::int8_t>(a.input), native(a.filter_dims),
                                  native(a.output_dims), bases.resolve<std::int8_t>(a.output)));
}

constexpr KernelOf<payload::Opcode::kMaxPool2d> kMaxPool2d =
    cmsis_nn_kernel(operators::kMaxPool2d, run_max_pool2d);

}  // namespace cmsis_nn_delegate::cmsis_nn
