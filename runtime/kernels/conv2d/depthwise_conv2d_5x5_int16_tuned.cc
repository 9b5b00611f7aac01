#include "runtime/kernels/common/depthwise_5x5.h"
#include "runtime/kernels/conv2d/channel_fives_int16_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_5x5_int16(const void* args, const Bases& bases) {
  return portable::compute_depthwise_conv2d_5x5<
      DspOr<DspChannelFivesInt16, portable::PlainChannelFivesInt16>, portable::kAnyStrideOfFives,
      payload::DepthwiseConv2d5x5Int16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2d5x5Int16> kDepthwiseConv2d5x5Int16 =
    portable::depthwise_conv2d_5x5_int16_kernel(run_depthwise_conv2d_5x5_int16);

}  // namespace cmsis_nn_delegate::tuned
