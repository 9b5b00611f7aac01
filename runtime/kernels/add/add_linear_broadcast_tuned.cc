#include "runtime/kernels/add/add_linear_sums_tuned.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_add_linear_broadcast(const void* args, const Bases& bases) {
  return portable::compute_add_linear_broadcast<LinearSums>(args, bases);
}

constexpr KernelOf<payload::Opcode::kAddLinearBroadcast> kAddLinearBroadcast =
    portable::add_linear_broadcast_kernel(run_add_linear_broadcast);

}  // namespace cmsis_nn_delegate::tuned
