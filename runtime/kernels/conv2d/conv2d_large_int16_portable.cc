#include "runtime/kernels/common/convolution_int16.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_large_int16(const void* args, const Bases& bases) {
  return run_convolution_int16<payload::Conv2dLargeInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dLargeInt16> kConv2dLargeInt16 =
    Kernel(operators::kConv2dLargeInt16, run_convolution_int16<payload::Conv2dLargeInt16Args>);

}  // namespace cmsis_nn_delegate::portable
