#include "runtime/kernels/common/broadcast_int16.h"
#include "runtime/kernels/mul/mul.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::MulBroadcastInt16Args;

Error mul_row(const void* args, const std::int16_t* input1, const std::int16_t* input2,
              std::int16_t* output, std::int32_t count) {
  multiply_elements(*static_cast<const Args*>(args), input1, input2, output, count);
  return Error::Ok;
}

}  // namespace

Error run_mul_broadcast_int16(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const Args*>(args), bases, mul_row);
}

constexpr KernelOf<payload::Opcode::kMulBroadcastInt16> kMulBroadcastInt16 =
    Kernel(operators::kMulBroadcastInt16, run_mul_broadcast_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
