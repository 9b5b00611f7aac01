#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate {
namespace cmsis_nn {

Error run_conv2d(const void* args, std::uint8_t* const* bases) {
  const auto& a = *static_cast<const payload::Conv2dArgs*>(args);
  const cmsis_nn_context context = scratch(a, bases);
  const cmsis_nn_per_channel_quant_params quant = per_channel(a, bases);
  return to_error(arm_convolve_wrapper_s8(
      &context, native(a.params), &quant, native(a.input_dims),
      resolve<const std::int8_t>(bases, a.input), native(a.filter_dims),
      resolve<const std::int8_t>(bases, a.filter), /*bias_dims=*/nullptr,
      resolve<const std::int32_t>(bases, a.bias), native(a.output_dims),
      resolve<std::int8_t>(bases, a.output)));
}

std::uint32_t conv2d_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::Conv2dArgs*>(args);
  // One window has no more bytes, over all groups, than the filter, less than 2^28: no term overflows.
  return static_cast<std::uint32_t>(arm_convolve_wrapper_s8_get_buffer_size(
      native(a.params), native(a.input_dims), native(a.filter_dims), native(a.output_dims)));
}

}  // namespace cmsis_nn
}  // namespace cmsis_nn_delegate
