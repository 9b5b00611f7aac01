#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/cmsis_nn/rules.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

std::uint32_t scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::Conv2dWideInt16Args*>(args);
  return static_cast<std::uint32_t>(
      arm_convolve_s16_get_buffer_size(native(a.input_dims), native(a.filter_dims)));
}

bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::Conv2dWideInt16Args*>(args);
  return rules::convolution_wide_fits(a.input_dims.c, a.filter_dims.h, a.filter_dims.w,
                                      a.filter_dims.c);
}

}  // namespace

Error run_conv2d_wide_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::Conv2dWideInt16Args*>(args);
  const cmsis_nn_context context = scratch(a, bases);
  const cmsis_nn_per_channel_quant_params quant = per_channel(a, bases);
  const cmsis_nn_conv_params params = widened(a.params);
  const cmsis_nn_bias_data bias = {bases.resolve<const std::int64_t>(a.bias),
                                   /*is_int32_bias=*/false};
  return to_error(arm_convolve_s16(
      &context, &params, &quant, native(a.input_dims), bases.resolve<const std::int16_t>(a.input),
      native(a.filter_dims), bases.resolve<const std::int8_t>(a.filter), /*bias_dims=*/nullptr,
      &bias, native(a.output_dims), bases.resolve<std::int16_t>(a.output)));
}

constexpr KernelOf<payload::Opcode::kConv2dWideInt16> kConv2dWideInt16 =
    cmsis_nn_kernel(operators::kConv2dWideInt16, run_conv2d_wide_int16, scratch_bytes)
        .limited_to(accepts)
        .reading_past(payload::reads_past(kCompiledIsa, payload::Opcode::kConv2dWideInt16));

}  // namespace cmsis_nn_delegate::cmsis_nn
