#include "runtime/kernels/common/depthwise_planes.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_planes(const void* args, const Bases& bases) {
  return compute_depthwise_planes<PlainChannelPlanes, payload::DepthwiseConv2dPlanesArgs>(args,
                                                                                          bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dPlanes> kDepthwiseConv2dPlanes =
    depthwise_planes_kernel<payload::DepthwiseConv2dPlanesArgs>(operators::kDepthwiseConv2dPlanes,
                                                                run_depthwise_conv2d_planes);

}  // namespace cmsis_nn_delegate::portable
