#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

std::uint32_t scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::AvgPool2dArgs*>(args);
  return static_cast<std::uint32_t>(
      arm_avgpool_s8_get_buffer_size(a.output_dims.w, a.input_dims.c));
}

}  // namespace

Error run_avg_pool2d(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::AvgPool2dArgs*>(args);
  const cmsis_nn_context context = scratch(a, bases);
  return to_error(arm_avgpool_s8(&context, native(a.params), native(a.input_dims),
                                 bases.resolve<const std::int8_t>(a.input), native(a.filter_dims),
                                 native(a.output_dims), bases.resolve<std::int8_t>(a.output)));
}

constexpr KernelOf<payload::Opcode::kAvgPool2d> kAvgPool2d =
    cmsis_nn_kernel(operators::kAvgPool2d, run_avg_pool2d, scratch_bytes);

}  // namespace cmsis_nn_delegate::cmsis_nn
