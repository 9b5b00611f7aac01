#include "runtime/kernels/portable/convolution.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kConv2dLarge> kConv2dLarge =
    Kernel(operators::kConv2dLarge, run_convolution<payload::Conv2dLargeArgs>);

Error conv2d_large(const payload::Conv2dLargeArgs& args, const Bases& bases) {
  return kConv2dLarge.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
