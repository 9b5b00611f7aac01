#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/cmsis_nn/rules.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

/// With an odd number of channels, arm_depthwise_conv_s4 takes every other weight from the wrong half of a byte where
/// some of the taps lie in the padding.
bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dInt4Args*>(args);
  const auto& p = a.params;
  return a.input_dims.c % 2 == 0 &&
         rules::depthwise_fits(/*mve=*/false, a.input_dims.n, a.input_dims.h, a.input_dims.w,
                               a.input_dims.c, p.ch_mult, a.filter_dims.h, a.filter_dims.w,
                               a.output_dims.h, a.output_dims.w, p.stride.h, p.stride.w,
                               p.padding.h, p.padding.w, p.dilation.h, p.dilation.w);
}

}  // namespace

Error run_depthwise_conv2d_int4(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dInt4Args*>(args);
  const cmsis_nn_context context = {nullptr, 0};
  const cmsis_nn_per_channel_quant_params quant = per_channel(a, bases);
  const auto wide = widened_sizes(a);
  return to_error(arm_depthwise_conv_s4(
      &context, &wide.params, &quant, &wide.input, bases.resolve<const std::int8_t>(a.input),
      &wide.filter, bases.resolve<const std::int8_t>(a.filter), /*bias_dims=*/nullptr,
      bases.resolve<const std::int32_t>(a.bias), &wide.output,
      bases.resolve<std::int8_t>(a.output)));
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dInt4> kDepthwiseConv2dInt4 =
    cmsis_nn_kernel(operators::kDepthwiseConv2dInt4, run_depthwise_conv2d_int4).limited_to(accepts);

}  // namespace cmsis_nn_delegate::cmsis_nn
