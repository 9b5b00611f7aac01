#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/common/broadcast_int16.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

using Args = payload::MulBroadcastInt16Args;

Error mul_row(const void* args, const std::int16_t* input1, const std::int16_t* input2,
              std::int16_t* output, std::int32_t count) {
  const auto& a = *static_cast<const Args*>(args);
  return to_error(arm_elementwise_mul_s16(input1, input2, 0, 0, output, 0, a.output_multiplier,
                                          a.output_shift, a.activation.min, a.activation.max,
                                          count));
}

}  // namespace

Error run_mul_broadcast_int16(const void* args, const Bases& bases) {
  return portable::for_each_row(*static_cast<const Args*>(args), bases, mul_row);
}

// The output may be an input of its size: see mul_int16_cmsis_nn.cc. A row of it is written after it was read, and the
// other operand lies elsewhere.
constexpr KernelOf<payload::Opcode::kMulBroadcastInt16> kMulBroadcastInt16 =
    cmsis_nn_kernel(operators::kMulBroadcastInt16, run_mul_broadcast_int16).in_place();

}  // namespace cmsis_nn_delegate::cmsis_nn
