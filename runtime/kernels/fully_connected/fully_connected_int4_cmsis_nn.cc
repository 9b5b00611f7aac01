#include "arm_nnsupportfunctions.h"
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"

namespace cmsis_nn_delegate::cmsis_nn {

// arm_fully_connected_s4 has one multiplier. The product of matrices of pointwise convolutions has one for each output;
// our bias contains what the zero point of the input adds.
Error run_fully_connected_int4(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedInt4Args*>(args);
  return to_error(arm_nn_mat_mult_nt_t_s4(
      bases.resolve<const std::int8_t>(a.input), bases.resolve<const std::int8_t>(a.filter),
      bases.resolve<const std::int32_t>(a.bias), bases.resolve<std::int8_t>(a.output),
      bases.resolve<const std::int32_t>(a.multiplier), bases.resolve<const std::int32_t>(a.shift),
      a.batch, a.outputs, a.inputs, /*lhs_offset=*/0, a.output_offset, a.activation.min,
      a.activation.max, /*lhs_cols_offset=*/a.inputs));
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4> kFullyConnectedInt4 =
    cmsis_nn_kernel(operators::kFullyConnectedInt4, run_fully_connected_int4)
        .reading_past(payload::reads_past(kCompiledIsa, payload::Opcode::kFullyConnectedInt4));

}  // namespace cmsis_nn_delegate::cmsis_nn
