#include "runtime/kernels/mul/mul_rounded.h"
#include "runtime/kernels/mul/mul_rounded_products_tuned.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_mul_rounded_broadcast(const void* args, const Bases& bases) {
  return portable::compute_mul_rounded_broadcast<RoundedProducts>(args, bases);
}

constexpr KernelOf<payload::Opcode::kMulRoundedBroadcast> kMulRoundedBroadcast =
    portable::mul_rounded_broadcast_kernel(run_mul_rounded_broadcast);

}  // namespace cmsis_nn_delegate::tuned
