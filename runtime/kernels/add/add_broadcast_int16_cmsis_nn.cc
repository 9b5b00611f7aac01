#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/cmsis_nn/convert.h"
#include "runtime/kernels/common/broadcast_int16.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

using Args = payload::AddBroadcastInt16Args;

Error add_row(const void* args, const std::int16_t* input1, const std::int16_t* input2,
              std::int16_t* output, std::int32_t count) {
  const auto& a = *static_cast<const Args*>(args);
  return to_error(arm_elementwise_add_s16(input1, input2, 0, a.input1_multiplier, a.input1_shift, 0,
                                          a.input2_multiplier, a.input2_shift, a.left_shift, output,
                                          0, a.output_multiplier, a.output_shift, a.activation.min,
                                          a.activation.max, count));
}

}  // namespace

Error run_add_broadcast_int16(const void* args, const Bases& bases) {
  return portable::for_each_row(*static_cast<const Args*>(args), bases, add_row);
}

// The output may be an input of its size: see add_int16_cmsis_nn.cc. A row of it is written after it was read, and the
// other operand lies elsewhere.
constexpr KernelOf<payload::Opcode::kAddBroadcastInt16> kAddBroadcastInt16 =
    cmsis_nn_kernel(operators::kAddBroadcastInt16, run_add_broadcast_int16).in_place();

}  // namespace cmsis_nn_delegate::cmsis_nn
