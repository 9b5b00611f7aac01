#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

std::uint32_t scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::BatchMatmulArgs*>(args);
  // The sums of the rows of input2, as a linear layer has them of its filter's.
  const cmsis_nn_dims filter = {a.input2_dims.c, 1, 1, a.input2_dims.w};
  return static_cast<std::uint32_t>(arm_fully_connected_s8_get_buffer_size(&filter));
}

}  // namespace

Error run_batch_matmul(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::BatchMatmulArgs*>(args);
  const cmsis_nn_context context = scratch(a, bases);
  const cmsis_nn_bmm_params params = {
      /*adj_x=*/false,
      /*adj_y=*/false,
      {a.input1_offset, a.input2_offset, a.output_offset, {a.activation.min, a.activation.max}}};
  const cmsis_nn_per_tensor_quant_params quant = {a.multiplier, a.shift};
  return to_error(arm_batch_matmul_s8(
      &context, &params, &quant, native(a.input1_dims), bases.resolve<const std::int8_t>(a.input1),
      native(a.input2_dims), bases.resolve<const std::int8_t>(a.input2), native(a.output_dims),
      bases.resolve<std::int8_t>(a.output)));
}

constexpr KernelOf<payload::Opcode::kBatchMatmul> kBatchMatmul =
    cmsis_nn_kernel(operators::kBatchMatmul, run_batch_matmul, scratch_bytes);

}  // namespace cmsis_nn_delegate::cmsis_nn
