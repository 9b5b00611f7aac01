// Depthwise convolution with a function of CMSIS-NN, which the kernels of this operator share.
#pragma once

#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/cmsis_nn/rules.h"

namespace cmsis_nn_delegate::cmsis_nn::depthwise {

/// Runs a call with `kFunction`, which has the parameters of arm_depthwise_conv_wrapper_s8: the body of a kernel's
/// function, which has no call more for it.
template <auto kFunction>
[[gnu::always_inline]] inline Error run(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::DepthwiseConv2dArgs*>(args);
  const cmsis_nn_context context = scratch(a, bases);
  const cmsis_nn_per_channel_quant_params quant = per_channel(a, bases);
  const auto wide = widened_sizes(a);
  return to_error(kFunction(&context, &wide.params, &quant, &wide.input,
                            bases.resolve<const std::int8_t>(a.input), &wide.filter,
                            bases.resolve<const std::int8_t>(a.filter), /*bias_dims=*/nullptr,
                            bases.resolve<const std::int32_t>(a.bias), &wide.output,
                            bases.resolve<std::int8_t>(a.output)));
}

inline std::uint32_t scratch_bytes(const void* args) {
  const auto wide = widened_sizes(*static_cast<const payload::DepthwiseConv2dArgs*>(args));
  // With MVE it is up to 496 bytes for every pixel of the kernel; the limit on pixels prevents overflow.
  static_assert(rules::kMaxKernelElements < (1 << 22), "the size must fit 31 bits");
  return static_cast<std::uint32_t>(arm_depthwise_conv_wrapper_s8_get_buffer_size(
      &wide.params, &wide.input, &wide.filter, &wide.output));
}

/// Whether one of CMSIS-NN's functions computes the call.
inline bool fits(const payload::DepthwiseConv2dArgs& a) {
  const auto& p = a.params;
  return rules::depthwise_fits(kWithMve, a.input_dims.n, a.input_dims.h, a.input_dims.w,
                               a.input_dims.c, p.ch_mult, a.filter_dims.h, a.filter_dims.w,
                               a.output_dims.h, a.output_dims.w, p.stride.h, p.stride.w,
                               p.padding.h, p.padding.w, p.dilation.h, p.dilation.w);
}

/// Whether arm_depthwise_conv_wrapper_s8 gives the call to arm_depthwise_conv_3x3_s8.
inline bool takes_3x3(const payload::DepthwiseConv2dArgs& a) {
  const auto& p = a.params;
  return !kWithMve && rules::takes_3x3(a.input_dims.n, p.ch_mult, a.filter_dims.h, a.filter_dims.w,
                                       p.padding.h, p.padding.w, p.dilation.h, p.dilation.w);
}

/// Whether arm_depthwise_conv_wrapper_s8 gives the call to arm_depthwise_conv_s8_opt.
inline bool takes_opt(const payload::DepthwiseConv2dArgs& a) {
  const auto& p = a.params;
  return !takes_3x3(a) && rules::takes_opt(kWithMve, a.input_dims.n, a.input_dims.c, p.ch_mult,
                                           p.dilation.h, p.dilation.w);
}

/// Makes a kernel for the calls that `accepts` takes.
constexpr Kernel kernel(Kernel::Run run, Kernel::Accepts accepts) {
  return cmsis_nn_kernel(operators::kDepthwiseConv2d, run, scratch_bytes)
      .limited_to(accepts)
      .reading_past(payload::reads_past(kCompiledIsa, payload::Opcode::kDepthwiseConv2d));
}

}  // namespace cmsis_nn_delegate::cmsis_nn::depthwise
