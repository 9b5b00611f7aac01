#include "arm_nnsupportfunctions.h"
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/cmsis_nn/rules.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

/// Whether CMSIS-NN has a function without scratch memory for the windows.
bool is_pointwise(const payload::Conv2dInt4Args& a) {
  const auto& p = a.params;
  return rules::takes_pointwise(a.input_dims.c, a.filter_dims.h, a.filter_dims.w, a.filter_dims.c,
                                p.padding.h, p.padding.w, p.dilation.h, p.dilation.w);
}

std::uint32_t scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::Conv2dInt4Args*>(args);
  const cmsis_nn_dims input = widened(a.input_dims);
  const cmsis_nn_dims filter = widened(a.filter_dims);
  return is_pointwise(a)
             ? 0
             : static_cast<std::uint32_t>(arm_convolve_s4_get_buffer_size(&input, &filter));
}

bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::Conv2dInt4Args*>(args);
  const auto& p = a.params;
  // Its functions for a row are not called.
  return a.filter_dims.c == a.input_dims.c &&
         rules::convolution_fits(/*mve=*/false, a.input_dims.h, a.input_dims.w, a.input_dims.c,
                                 a.filter_dims.h, a.filter_dims.w, a.filter_dims.c, a.output_dims.h,
                                 a.output_dims.w, a.output_dims.c, p.stride.h, p.stride.w,
                                 p.padding.h, p.padding.w, p.dilation.h, p.dilation.w);
}

}  // namespace

// arm_convolve_wrapper_s4 would also choose among functions for a row, and for windows of even size.
Error run_conv2d_int4(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::Conv2dInt4Args*>(args);
  const cmsis_nn_context context = scratch(a, bases);
  const cmsis_nn_per_channel_quant_params quant = per_channel(a, bases);
  const auto wide = widened_sizes(a);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* filter = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  auto* output = bases.resolve<std::int8_t>(a.output);
  if (is_pointwise(a)) {
    auto* const convolve =
        arm_nn_is_convolve_1x1_fast(&wide.params) ? arm_convolve_1x1_s4_fast : arm_convolve_1x1_s4;
    return to_error(convolve(&context, &wide.params, &quant, &wide.input, input, &wide.filter,
                             filter, /*bias_dims=*/nullptr, bias, &wide.output, output));
  }
  return to_error(arm_convolve_s4(&context, &wide.params, &quant, &wide.input, input, &wide.filter,
                                  filter, /*bias_dims=*/nullptr, bias, &wide.output, output));
}

constexpr KernelOf<payload::Opcode::kConv2dInt4> kConv2dInt4 =
    cmsis_nn_kernel(operators::kConv2dInt4, run_conv2d_int4, scratch_bytes)
        .limited_to(accepts)
        .reading_past(payload::reads_past(kCompiledIsa, payload::Opcode::kConv2dInt4));

}  // namespace cmsis_nn_delegate::cmsis_nn
