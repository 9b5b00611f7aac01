#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/cmsis_nn/rules.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

std::uint32_t scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::AvgPool2dInt16Args*>(args);
  return static_cast<std::uint32_t>(
      arm_avgpool_s16_get_buffer_size(a.output_dims.w, a.input_dims.c));
}

bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::AvgPool2dInt16Args*>(args);
  return rules::average_int16_fits(a.filter_dims.h, a.filter_dims.w);
}

}  // namespace

Error run_avg_pool2d_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::AvgPool2dInt16Args*>(args);
  const cmsis_nn_context context = scratch(a, bases);
  const cmsis_nn_pool_params params = widened(a.params);
  return to_error(arm_avgpool_s16(&context, &params, native(a.input_dims),
                                  bases.resolve<const std::int16_t>(a.input), native(a.filter_dims),
                                  native(a.output_dims), bases.resolve<std::int16_t>(a.output)));
}

constexpr KernelOf<payload::Opcode::kAvgPool2dInt16> kAvgPool2dInt16 =
    cmsis_nn_kernel(operators::kAvgPool2dInt16, run_avg_pool2d_int16, scratch_bytes)
        .limited_to(accepts);

}  // namespace cmsis_nn_delegate::cmsis_nn
