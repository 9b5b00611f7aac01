#include "runtime/kernels/common/depthwise_5x5.h"
#include "runtime/kernels/depthwise_conv2d/channel_fives_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_5x5(const void* args, const Bases& bases) {
  return portable::compute_depthwise_conv2d_5x5<
      DspOr<DspChannelFives, portable::PlainChannelFives>>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2d5x5> kDepthwiseConv2d5x5 =
    portable::depthwise_conv2d_5x5_kernel(run_depthwise_conv2d_5x5);

}  // namespace cmsis_nn_delegate::tuned
