#include "runtime/kernels/portable/add_linear.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kAddLinear> kAddLinear = add_linear_kernel<PlainLinearSums>();

Error add_linear(const payload::AddLinearArgs& args, const Bases& bases) {
  return kAddLinear.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
