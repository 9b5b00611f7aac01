#include "runtime/kernels/common/depthwise_5x5.h"
#include "runtime/kernels/depthwise_conv2d/channel_fives_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_5x5_stride1(const void* args, const Bases& bases) {
  return portable::compute_depthwise_conv2d_5x5<DspOr<DspChannelFives, portable::PlainChannelFives>,
                                                1>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2d5x5> kDepthwiseConv2d5x5Stride1 =
    portable::depthwise_conv2d_5x5_kernel<1>(run_depthwise_conv2d_5x5_stride1);

}  // namespace cmsis_nn_delegate::tuned
