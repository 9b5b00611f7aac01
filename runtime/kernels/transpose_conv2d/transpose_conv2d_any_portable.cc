#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/transpose_conv2d/transposed.h"

namespace cmsis_nn_delegate::portable {

Error run_transpose_conv2d_any(const void* args, const Bases& bases) {
  return run_transposed<payload::TransposeConv2dAnyArgs>(args, bases);
}

// GCC's code is smaller where run_transposed() is not inlined into run_transpose_conv2d_any().
constexpr KernelOf<payload::Opcode::kTransposeConv2dAny> kTransposeConv2dAny =
    Kernel(operators::kTransposeConv2dAny, run_transposed<payload::TransposeConv2dAnyArgs>);

}  // namespace cmsis_nn_delegate::portable
