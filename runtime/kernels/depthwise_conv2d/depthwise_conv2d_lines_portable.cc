#include "runtime/kernels/depthwise_conv2d/depthwise_conv2d_lines.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_lines(const void* args, const Bases& bases) {
  return compute_depthwise_conv2d_lines<PlainChannelLines>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dLines> kDepthwiseConv2dLines =
    depthwise_conv2d_lines_kernel(run_depthwise_conv2d_lines);

}  // namespace cmsis_nn_delegate::portable
