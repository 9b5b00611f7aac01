#include "runtime/kernels/common/channel_planes_dsp.h"
#include "runtime/kernels/common/depthwise_planes.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_int4_planes(const void* args, const Bases& bases) {
  return portable::compute_depthwise_planes<DspOr<DspChannelPlanes, portable::PlainChannelPlanes>,
                                            payload::DepthwiseConv2dInt4PlanesArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dInt4Planes> kDepthwiseConv2dInt4Planes =
    portable::depthwise_planes_kernel<payload::DepthwiseConv2dInt4PlanesArgs>(
        operators::kDepthwiseConv2dInt4Planes, run_depthwise_conv2d_int4_planes);

}  // namespace cmsis_nn_delegate::tuned
