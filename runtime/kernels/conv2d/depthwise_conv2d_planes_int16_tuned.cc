#include "runtime/kernels/common/channel_planes_int16_dsp.h"
#include "runtime/kernels/common/depthwise_planes.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_planes_int16(const void* args, const Bases& bases) {
  return portable::compute_depthwise_planes<
      DspOr<DspChannelPlanesInt16, portable::PlainChannelPlanesInt16>,
      payload::DepthwiseConv2dPlanesInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dPlanesInt16> kDepthwiseConv2dPlanesInt16 =
    portable::depthwise_planes_kernel<payload::DepthwiseConv2dPlanesInt16Args>(
        operators::kDepthwiseConv2dPlanesInt16, run_depthwise_conv2d_planes_int16);

}  // namespace cmsis_nn_delegate::tuned
