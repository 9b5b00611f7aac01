#include "runtime/kernels/add/add_linear.h"

namespace cmsis_nn_delegate::portable {

Error run_add_linear(const void* args, const Bases& bases) {
  return compute_add_linear<PlainLinearSums>(args, bases);
}

constexpr KernelOf<payload::Opcode::kAddLinear> kAddLinear = add_linear_kernel(run_add_linear);

}  // namespace cmsis_nn_delegate::portable
