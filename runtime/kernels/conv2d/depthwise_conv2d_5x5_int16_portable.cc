#include "runtime/kernels/common/depthwise_5x5.h"
#include "runtime/kernels/conv2d/channel_fives_int16.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_5x5_int16(const void* args, const Bases& bases) {
  return compute_depthwise_conv2d_5x5<PlainChannelFivesInt16, kAnyStrideOfFives,
                                      payload::DepthwiseConv2d5x5Int16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2d5x5Int16> kDepthwiseConv2d5x5Int16 =
    depthwise_conv2d_5x5_int16_kernel(run_depthwise_conv2d_5x5_int16);

}  // namespace cmsis_nn_delegate::portable
