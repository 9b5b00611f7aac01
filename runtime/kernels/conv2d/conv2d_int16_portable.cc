#include "runtime/kernels/common/convolution_int16.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_int16(const void* args, const Bases& bases) {
  return run_convolution_int16<payload::Conv2dInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dInt16> kConv2dInt16 =
    Kernel(operators::kConv2dInt16, run_convolution_int16<payload::Conv2dInt16Args>);

}  // namespace cmsis_nn_delegate::portable
