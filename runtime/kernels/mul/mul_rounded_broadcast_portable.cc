#include "runtime/kernels/mul/mul_rounded.h"

namespace cmsis_nn_delegate::portable {

Error run_mul_rounded_broadcast(const void* args, const Bases& bases) {
  return compute_mul_rounded_broadcast<PlainProducts>(args, bases);
}

constexpr KernelOf<payload::Opcode::kMulRoundedBroadcast> kMulRoundedBroadcast =
    mul_rounded_broadcast_kernel(run_mul_rounded_broadcast);

}  // namespace cmsis_nn_delegate::portable
