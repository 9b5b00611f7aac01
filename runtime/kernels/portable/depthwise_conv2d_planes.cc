#include "runtime/kernels/portable/depthwise_conv2d_planes.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dPlanes> kDepthwiseConv2dPlanes =
    depthwise_conv2d_planes_kernel<PlainChannelPlanes>();

Error depthwise_conv2d_planes(const payload::DepthwiseConv2dPlanesArgs& args, const Bases& bases) {
  return kDepthwiseConv2dPlanes.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
