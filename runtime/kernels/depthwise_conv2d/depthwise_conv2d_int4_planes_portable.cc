#include "runtime/kernels/common/depthwise_planes.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_int4_planes(const void* args, const Bases& bases) {
  return compute_depthwise_planes<PlainChannelPlanes, payload::DepthwiseConv2dInt4PlanesArgs>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dInt4Planes> kDepthwiseConv2dInt4Planes =
    depthwise_planes_kernel<payload::DepthwiseConv2dInt4PlanesArgs>(
        operators::kDepthwiseConv2dInt4Planes, run_depthwise_conv2d_int4_planes);

}  // namespace cmsis_nn_delegate::portable
