#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/transpose_conv2d/transposed.h"

namespace cmsis_nn_delegate::portable {

Error run_transpose_conv2d(const void* args, const Bases& bases) {
  return run_transposed<payload::TransposeConv2dArgs>(args, bases);
}

// GCC's code is smaller where run_transposed() is not inlined into run_transpose_conv2d().
constexpr KernelOf<payload::Opcode::kTransposeConv2d> kTransposeConv2d =
    Kernel(operators::kTransposeConv2d, run_transposed<payload::TransposeConv2dArgs>);

}  // namespace cmsis_nn_delegate::portable
