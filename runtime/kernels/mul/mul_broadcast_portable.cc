#include "runtime/kernels/common/broadcast.h"
#include "runtime/kernels/mul/mul.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::MulBroadcastArgs;

Error mul_row(const void* args, const std::int8_t* input1, const std::int8_t* input2,
              std::int8_t* output, std::int32_t count) {
  multiply_elements(*static_cast<const Args*>(args), input1, input2, output, count);
  return Error::Ok;
}

}  // namespace

Error run_mul_broadcast(const void* args, const Bases& bases) {
  return for_each_row(*static_cast<const Args*>(args), bases, mul_row);
}

constexpr KernelOf<payload::Opcode::kMulBroadcast> kMulBroadcast =
    Kernel(operators::kMulBroadcast, run_mul_broadcast).in_place();

}  // namespace cmsis_nn_delegate::portable
