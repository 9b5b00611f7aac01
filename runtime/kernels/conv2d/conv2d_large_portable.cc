#include "runtime/kernels/conv2d/convolution.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_large(const void* args, const Bases& bases) {
  return run_convolution<payload::Conv2dLargeArgs>(args, bases);
}

// GCC's code is smaller where run_convolution() is not inlined into run_conv2d_large().
constexpr KernelOf<payload::Opcode::kConv2dLarge> kConv2dLarge =
    Kernel(operators::kConv2dLarge, run_convolution<payload::Conv2dLargeArgs>);

}  // namespace cmsis_nn_delegate::portable
