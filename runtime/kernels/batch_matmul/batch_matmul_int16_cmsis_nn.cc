#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {

Error run_batch_matmul_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::BatchMatmulInt16Args*>(args);
  const cmsis_nn_bmm_params params = {
      /*adj_x=*/false, /*adj_y=*/false, {0, 0, 0, {a.activation.min, a.activation.max}}};
  const cmsis_nn_per_tensor_quant_params quant = {a.multiplier, a.shift};
  return to_error(arm_batch_matmul_s16(
      nullptr, &params, &quant, native(a.input1_dims), bases.resolve<const std::int16_t>(a.input1),
      native(a.input2_dims), bases.resolve<const std::int16_t>(a.input2), native(a.output_dims),
      bases.resolve<std::int16_t>(a.output)));
}

constexpr KernelOf<payload::Opcode::kBatchMatmulInt16> kBatchMatmulInt16 =
    cmsis_nn_kernel(operators::kBatchMatmulInt16, run_batch_matmul_int16);

}  // namespace cmsis_nn_delegate::cmsis_nn
