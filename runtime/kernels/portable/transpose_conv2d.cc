#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/portable/transposed.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kTransposeConv2d> kTransposeConv2d =
    Kernel(operators::kTransposeConv2d, run_transposed<payload::TransposeConv2dArgs>);

Error transpose_conv2d(const payload::TransposeConv2dArgs& args, const Bases& bases) {
  return kTransposeConv2d.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
