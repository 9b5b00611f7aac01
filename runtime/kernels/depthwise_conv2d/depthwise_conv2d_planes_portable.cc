#include "runtime/kernels/depthwise_conv2d/depthwise_conv2d_planes.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_planes(const void* args, const Bases& bases) {
  return compute_depthwise_conv2d_planes<PlainChannelPlanes>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dPlanes> kDepthwiseConv2dPlanes =
    depthwise_conv2d_planes_kernel(run_depthwise_conv2d_planes);

}  // namespace cmsis_nn_delegate::portable
