#include "arm_nnsupportfunctions.h"
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {

Error run_fully_connected_per_tensor(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedPerTensorArgs*>(args);
  const auto* input = bases.resolve<const std::int8_t>(a.input);
  const auto* filter = bases.resolve<const std::int8_t>(a.filter);
  // With MVE these are the kernel sums, as in fully_connected.cc.
  const auto* bias = bases.resolve<const std::int32_t>(a.bias);
  auto* output = bases.resolve<std::int8_t>(a.output);
  std::int32_t rows = a.batch;
  do {
    arm_nn_vec_mat_mult_t_s8(input, filter, bias, bias, output, /*lhs_offset=*/0, a.output_offset,
                             a.multiplier, a.shift, a.inputs, a.outputs, a.activation.min,
                             a.activation.max, /*address_offset=*/1, /*rhs_offset=*/0);
    input += a.inputs;
    output += a.outputs;
  } while (--rows != 0);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kFullyConnectedPerTensor> kFullyConnectedPerTensor =
    cmsis_nn_kernel(operators::kFullyConnectedPerTensor, run_fully_connected_per_tensor);

}  // namespace cmsis_nn_delegate::cmsis_nn
