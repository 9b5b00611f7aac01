#include "runtime/kernels/portable/convolution.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kConv2d> kConv2d =
    Kernel(operators::kConv2d, run_convolution<payload::Conv2dArgs>);

Error conv2d(const payload::Conv2dArgs& args, const Bases& bases) {
  return kConv2d.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
