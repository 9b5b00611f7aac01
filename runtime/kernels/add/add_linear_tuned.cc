#include "runtime/kernels/add/add_linear_sums_tuned.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_add_linear(const void* args, const Bases& bases) {
  return portable::compute_add_linear<LinearSums>(args, bases);
}

constexpr KernelOf<payload::Opcode::kAddLinear> kAddLinear =
    portable::add_linear_kernel(run_add_linear);

}  // namespace cmsis_nn_delegate::tuned
