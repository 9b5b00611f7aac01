#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/cmsis_nn/rules.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

// arm_fully_connected_s16 has sums of 64 bits and one multiplier, of 16 bits. The function for convolutions computes
// what our definition says; the rows of a batch are the pixels of an image of one row.

cmsis_nn_dims image_of(const payload::FullyConnectedInt16Args& a) {
  return {1, 1, a.batch, a.inputs};
}

cmsis_nn_dims filter_of(const payload::FullyConnectedInt16Args& a) {
  return {a.outputs, 1, 1, a.inputs};
}

std::uint32_t scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::FullyConnectedInt16Args*>(args);
  const cmsis_nn_dims image = image_of(a);
  const cmsis_nn_dims filter = filter_of(a);
  return static_cast<std::uint32_t>(arm_convolve_s16_get_buffer_size(&image, &filter));
}

bool accepts(const void* args) {
  const auto& a = *static_cast<const payload::FullyConnectedInt16Args*>(args);
  return rules::convolution_int16_fits(a.inputs, 1, 1, a.inputs);
}

}  // namespace

Error run_fully_connected_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedInt16Args*>(args);
  const cmsis_nn_context context = scratch(a, bases);
  const cmsis_nn_per_channel_quant_params quant = per_channel(a, bases);
  const cmsis_nn_conv_params params = {0,      0,      {1, 1},
                                       {0, 0}, {1, 1}, {a.activation.min, a.activation.max}};
  const cmsis_nn_dims image = image_of(a);
  const cmsis_nn_dims filter = filter_of(a);
  const cmsis_nn_dims output = {1, 1, a.batch, a.outputs};
  const cmsis_nn_bias_data bias = {bases.resolve<const std::int32_t>(a.bias),
                                   /*is_int32_bias=*/true};
  return to_error(arm_convolve_s16(
      &context, &params, &quant, &image, bases.resolve<const std::int16_t>(a.input), &filter,
      bases.resolve<const std::int8_t>(a.filter),
      /*bias_dims=*/nullptr, &bias, &output, bases.resolve<std::int16_t>(a.output)));
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt16> kFullyConnectedInt16 =
    cmsis_nn_kernel(operators::kFullyConnectedInt16, run_fully_connected_int16, scratch_bytes)
        .limited_to(accepts)
        .reading_past(payload::reads_past(kCompiledIsa, payload::Opcode::kFullyConnectedInt16));

}  // namespace cmsis_nn_delegate::cmsis_nn
