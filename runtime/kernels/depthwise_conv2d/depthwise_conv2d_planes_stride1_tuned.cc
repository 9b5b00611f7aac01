#include "runtime/kernels/common/depthwise_planes.h"

#include "runtime/kernels/common/channel_planes_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_planes_stride1(const void* args, const Bases& bases) {
  return portable::compute_depthwise_planes<DspOr<DspChannelPlanes, portable::PlainChannelPlanes>,
                                            payload::DepthwiseConv2dPlanesArgs, 1>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dPlanes> kDepthwiseConv2dPlanesStride1 =
    portable::depthwise_planes_kernel<payload::DepthwiseConv2dPlanesArgs, 1>(
        operators::kDepthwiseConv2dPlanes, run_depthwise_conv2d_planes_stride1);

}  // namespace cmsis_nn_delegate::tuned
