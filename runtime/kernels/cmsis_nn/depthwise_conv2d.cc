#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/cmsis_nn/rules.h"

namespace cmsis_nn_delegate {
namespace cmsis_nn {
namespace {

Error run_depthwise_conv2d(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dArgs*>(args);
  const cmsis_nn_context context = scratch(a, bases);
  const cmsis_nn_per_channel_quant_params quant = per_channel(a, bases);
  return to_error(arm_depthwise_conv_wrapper_s8(
      &context, native(a.params), &quant, native(a.input_dims),
      bases.resolve<const std::int8_t>(a.input), native(a.filter_dims),
      bases.resolve<const std::int8_t>(a.filter), /*bias_dims=*/nullptr,
      bases.resolve<const std::int32_t>(a.bias), native(a.output_dims),
      bases.resolve<std::int8_t>(a.output)));
}

std::uint32_t scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dArgs*>(args);
  // With MVE it is up to 496 bytes for every pixel of the kernel; the limit on pixels prevents overflow.
  static_assert(rules::kMaxKernelElements < (1 << 22), "the size must fit 31 bits");
  return static_cast<std::uint32_t>(arm_depthwise_conv_wrapper_s8_get_buffer_size(
      native(a.params), native(a.input_dims), native(a.filter_dims), native(a.output_dims)));
}

bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dArgs*>(args);
  const auto& p = a.params;
  return rules::depthwise_fits(kWithMve, a.input_dims.n, a.input_dims.h, a.input_dims.w,
                               a.input_dims.c, p.ch_mult, a.filter_dims.h, a.filter_dims.w,
                               a.output_dims.h, a.output_dims.w, p.stride.h, p.stride.w,
                               p.padding.h, p.padding.w, p.dilation.h, p.dilation.w);
}

}  // namespace

constexpr KernelOf<payload::Opcode::kDepthwiseConv2d> kDepthwiseConv2d =
    cmsis_nn_kernel(operators::kDepthwiseConv2d, run_depthwise_conv2d, scratch_bytes)
        .limited_to(accepts)
        .reading_past(payload::reads_past(kCompiledIsa, payload::Opcode::kDepthwiseConv2d));

Error depthwise_conv2d(const payload::DepthwiseConv2dArgs& args, const Bases& bases) {
  return kDepthwiseConv2d.run(&args, bases);
}

}  // namespace cmsis_nn
}  // namespace cmsis_nn_delegate
