#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/cmsis_nn/rules.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

std::uint32_t scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::TransposeConv2dArgs*>(args);
  return static_cast<std::uint32_t>(rules::transpose_conv_scratch(
      a.input_dims.w, a.filter_dims.h, a.filter_dims.w, a.params.stride.w, a.output_dims.c));
}

bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::TransposeConv2dArgs*>(args);
  const auto& p = a.params;
  return rules::transpose_conv_fits(a.input_dims.h, a.input_dims.w, a.input_dims.c, a.filter_dims.h,
                                    a.filter_dims.w, a.filter_dims.c, a.output_dims.h,
                                    a.output_dims.w, a.output_dims.c, p.stride.h, p.stride.w,
                                    p.padding.h, p.padding.w, p.dilation.h, p.dilation.w);
}

}  // namespace

Error run_transpose_conv2d(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::TransposeConv2dArgs*>(args);
  const auto& p = a.params;
  const cmsis_nn_context context = scratch(a, bases);
  const cmsis_nn_per_channel_quant_params quant = per_channel(a, bases);
  const cmsis_nn_transpose_conv_params params = {
      p.input_offset,
      p.output_offset,
      {p.stride.w, p.stride.h},
      {p.padding.w, p.padding.h},
      /*padding_offsets=*/{0, 0},
      {p.dilation.w, p.dilation.h},
      {p.activation.min, p.activation.max},
  };
  return to_error(
      arm_transpose_conv_s8(&context, /*reverse_conv_ctx=*/nullptr, &params, &quant,
                            native(a.input_dims), bases.resolve<const std::int8_t>(a.input),
                            native(a.filter_dims), bases.resolve<const std::int8_t>(a.filter),
                            /*bias_dims=*/nullptr, bases.resolve<const std::int32_t>(a.bias),
                            native(a.output_dims), bases.resolve<std::int8_t>(a.output)));
}

constexpr KernelOf<payload::Opcode::kTransposeConv2d> kTransposeConv2d =
    cmsis_nn_kernel(operators::kTransposeConv2d, run_transpose_conv2d, scratch_bytes)
        .limited_to(accepts);

}  // namespace cmsis_nn_delegate::cmsis_nn
