#include "runtime/kernels/depthwise_conv2d/channel_lines_dsp.h"
#include "runtime/kernels/depthwise_conv2d/depthwise_conv2d_lines.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_lines(const void* args, const Bases& bases) {
  return portable::compute_depthwise_conv2d_lines<
      DspOr<DspChannelLines, portable::PlainChannelLines>>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dLines> kDepthwiseConv2dLines =
    portable::depthwise_conv2d_lines_kernel(run_depthwise_conv2d_lines);

}  // namespace cmsis_nn_delegate::tuned
