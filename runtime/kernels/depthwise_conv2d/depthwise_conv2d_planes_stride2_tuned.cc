#include "runtime/kernels/depthwise_conv2d/depthwise_conv2d_planes.h"

#include "runtime/kernels/depthwise_conv2d/channel_planes_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_planes_stride2(const void* args, const Bases& bases) {
  return portable::compute_depthwise_conv2d_planes<
      DspOr<DspChannelPlanes, portable::PlainChannelPlanes>, 2>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dPlanes> kDepthwiseConv2dPlanesStride2 =
    portable::depthwise_conv2d_planes_kernel<2>(run_depthwise_conv2d_planes_stride2);

}  // namespace cmsis_nn_delegate::tuned
