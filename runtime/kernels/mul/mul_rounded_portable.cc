#include "runtime/kernels/mul/mul_rounded.h"

namespace cmsis_nn_delegate::portable {

Error run_mul_rounded(const void* args, const Bases& bases) {
  return compute_mul_rounded<PlainProducts>(args, bases);
}

constexpr KernelOf<payload::Opcode::kMulRounded> kMulRounded = mul_rounded_kernel(run_mul_rounded);

}  // namespace cmsis_nn_delegate::portable
