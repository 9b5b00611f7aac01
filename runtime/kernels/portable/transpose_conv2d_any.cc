#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/portable/transposed.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kTransposeConv2dAny> kTransposeConv2dAny =
    Kernel(operators::kTransposeConv2dAny, run_transposed<payload::TransposeConv2dAnyArgs>);

Error transpose_conv2d_any(const payload::TransposeConv2dAnyArgs& args, const Bases& bases) {
  return kTransposeConv2dAny.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
