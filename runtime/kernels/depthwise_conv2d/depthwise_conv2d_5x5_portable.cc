#include "runtime/kernels/common/depthwise_5x5.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_5x5(const void* args, const Bases& bases) {
  return compute_depthwise_conv2d_5x5<PlainChannelFives>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2d5x5> kDepthwiseConv2d5x5 =
    depthwise_conv2d_5x5_kernel(run_depthwise_conv2d_5x5);

}  // namespace cmsis_nn_delegate::portable
