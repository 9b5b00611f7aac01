#include "runtime/kernels/common/channel_planes_int16.h"
#include "runtime/kernels/common/depthwise_planes.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_planes_int16(const void* args, const Bases& bases) {
  return compute_depthwise_planes<PlainChannelPlanesInt16, payload::DepthwiseConv2dPlanesInt16Args>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dPlanesInt16> kDepthwiseConv2dPlanesInt16 =
    depthwise_planes_kernel<payload::DepthwiseConv2dPlanesInt16Args>(
        operators::kDepthwiseConv2dPlanesInt16, run_depthwise_conv2d_planes_int16);

}  // namespace cmsis_nn_delegate::portable
