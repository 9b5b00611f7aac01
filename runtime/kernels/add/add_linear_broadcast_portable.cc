#include "runtime/kernels/add/add_linear.h"

namespace cmsis_nn_delegate::portable {

Error run_add_linear_broadcast(const void* args, const Bases& bases) {
  return compute_add_linear_broadcast<PlainLinearSums>(args, bases);
}

constexpr KernelOf<payload::Opcode::kAddLinearBroadcast> kAddLinearBroadcast =
    add_linear_broadcast_kernel(run_add_linear_broadcast);

}  // namespace cmsis_nn_delegate::portable
