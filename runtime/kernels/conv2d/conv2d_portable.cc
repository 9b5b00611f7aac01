#include "runtime/kernels/conv2d/convolution.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d(const void* args, const Bases& bases) {
  return run_convolution<payload::Conv2dArgs>(args, bases);
}

// GCC's code is smaller where run_convolution() is not inlined into run_conv2d().
constexpr KernelOf<payload::Opcode::kConv2d> kConv2d =
    Kernel(operators::kConv2d, run_convolution<payload::Conv2dArgs>);

}  // namespace cmsis_nn_delegate::portable
