#include "runtime/kernels/common/convolution_int16.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_int4_int16(const void* args, const Bases& bases) {
  return run_convolution_int16<payload::Conv2dInt4Int16Args, std::int32_t, NibbleWeights>(args,
                                                                                          bases);
}

constexpr KernelOf<payload::Opcode::kConv2dInt4Int16> kConv2dInt4Int16 =
    Kernel(operators::kConv2dInt4Int16, run_conv2d_int4_int16);

}  // namespace cmsis_nn_delegate::portable
