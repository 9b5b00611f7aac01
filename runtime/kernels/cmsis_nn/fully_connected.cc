#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate {
namespace cmsis_nn {

Error fully_connected(const void* args, std::uint8_t* const* bases) {
  const auto& a = *static_cast<const payload::FullyConnectedArgs*>(args);
  // With MVE the context holds kernel sums, bias included, and the bias is not read; elsewhere it is
  // the other way round. The payload has both in one: the effective bias.
  auto* bias = resolve<std::int32_t>(bases, a.bias);
  const cmsis_nn_context kernel_sums = {
      bias, a.filter_dims.c * static_cast<std::int32_t>(sizeof(std::int32_t))};
  const cmsis_nn_per_channel_quant_params quant = per_channel(a, bases);
  return to_error(arm_fully_connected_per_channel_s8(
      &kernel_sums, native(a.params), &quant, native(a.input_dims),
      resolve<const std::int8_t>(bases, a.input), native(a.filter_dims),
      resolve<const std::int8_t>(bases, a.filter), /*bias_dims=*/nullptr, bias,
      native(a.output_dims), resolve<std::int8_t>(bases, a.output)));
}

}  // namespace cmsis_nn
}  // namespace cmsis_nn_delegate
