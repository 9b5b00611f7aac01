#include "arm_nnsupportfunctions.h"
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/cmsis_nn/rules.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

/// Whether CMSIS-NN would call arm_convolve_1_x_n_s8, for windows that all stay in their row.
[[maybe_unused]] bool is_plain_row(const payload::Conv2dArgs& a) {
  const auto& p = a.params;
  return rules::takes_one_row(a.input_dims.h, a.input_dims.c, a.filter_dims.h, a.filter_dims.c,
                              p.stride.w, p.dilation.w) &&
         rules::stays_in_row(a.output_dims.h, p.padding.w,
                             rules::far_padding(a.input_dims.w, a.filter_dims.w, a.output_dims.w,
                                                p.stride.w, p.padding.w, p.dilation.w));
}

/// Does the multiplication that arm_convolve_1_x_n_s8 does for such windows.
[[maybe_unused, gnu::noinline]] Error run_plain_rows(const payload::Conv2dArgs& a,
                                                     const Bases& bases) {
  const auto& p = a.params;
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  auto* output = bases.resolve<std::int8_t>(a.output);
  for (std::int32_t n = 0; n < a.input_dims.n; ++n) {
    const arm_cmsis_nn_status status = arm_nn_mat_mult_nt_t_s8(
        input, bases.resolve<const std::int8_t>(a.filter),
        bases.resolve<const std::int32_t>(a.bias), output,
        bases.resolve<const std::int32_t>(a.multiplier), bases.resolve<const std::int32_t>(a.shift),
        a.output_dims.w, a.output_dims.c, a.filter_dims.w * a.input_dims.c, p.input_offset,
        p.output_offset, p.activation.min, p.activation.max, /*row_address_offset=*/a.output_dims.c,
        /*lhs_cols_offset=*/a.input_dims.c * p.stride.w);
    if (status != ARM_CMSIS_NN_SUCCESS) {
      return to_error(status);
    }
    input += a.input_dims.w * a.input_dims.c;
    output += a.output_dims.w * a.output_dims.c;
  }
  return Error::Ok;
}

std::uint32_t scratch_bytes(const void* args) {
  const auto wide = widened_sizes(*static_cast<const payload::Conv2dArgs*>(args));
  // Over all groups, one window has at most as many bytes as the filter, fewer than 2^28, so no term
  // overflows.
  return static_cast<std::uint32_t>(arm_convolve_wrapper_s8_get_buffer_size(
      &wide.params, &wide.input, &wide.filter, &wide.output));
}

bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::Conv2dArgs*>(args);
  const auto& p = a.params;
  return rules::convolution_fits(kWithMve, a.input_dims.h, a.input_dims.w, a.input_dims.c,
                                 a.filter_dims.h, a.filter_dims.w, a.filter_dims.c, a.output_dims.h,
                                 a.output_dims.w, a.output_dims.c, p.stride.h, p.stride.w,
                                 p.padding.h, p.padding.w, p.dilation.h, p.dilation.w);
}

}  // namespace

Error run_conv2d(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::Conv2dArgs*>(args);
  if constexpr (kWithMve) {
    if (is_plain_row(a)) {
      return run_plain_rows(a, bases);
    }
  }
  const cmsis_nn_context context = scratch(a, bases);
  const cmsis_nn_per_channel_quant_params quant = per_channel(a, bases);
  const auto wide = widened_sizes(a);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* filter = bases.resolve<const std::int8_t>(a.filter);
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  auto* output = bases.resolve<std::int8_t>(a.output);
  // The choice of arm_convolve_wrapper_s8, whose own frame (88 bytes on M4) would make the stack deeper. Without MVE,
  // its function for one row is the general one.
  decltype(&arm_convolve_1x1_s8) special = nullptr;
  if (arm_nn_is_convolve_1x1(&wide.params, &wide.input, &wide.filter)) {
    special =
        arm_nn_is_convolve_1x1_fast(&wide.params) ? arm_convolve_1x1_s8_fast : arm_convolve_1x1_s8;
  } else if (kWithMve && arm_nn_is_convolve_1_x_n(&wide.params, &wide.input, &wide.filter)) {
    special = arm_convolve_1_x_n_s8;
  }
  return to_error(special != nullptr
                      ? special(&context, &wide.params, &quant, &wide.input, input, &wide.filter,
                                filter,
                                /*bias_dims=*/nullptr, bias, &wide.output, output)
                      : arm_convolve_s8(&context, &wide.params, &quant, &wide.input, input,
                                        &wide.filter, filter, /*bias_dims=*/nullptr, bias,
                                        /*upscale_dims=*/nullptr, &wide.output, output));
}

constexpr KernelOf<payload::Opcode::kConv2d> kConv2d =
    cmsis_nn_kernel(operators::kConv2d, run_conv2d, scratch_bytes)
        .limited_to(accepts)
        .reading_past(payload::reads_past(kCompiledIsa, payload::Opcode::kConv2d));

}  // namespace cmsis_nn_delegate::cmsis_nn
