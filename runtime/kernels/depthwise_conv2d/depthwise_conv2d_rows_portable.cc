#include "runtime/kernels/depthwise_conv2d/depthwise_conv2d_rows.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_rows(const void* args, const Bases& bases) {
  return compute_depthwise_conv2d_rows<PlainChannelRows>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dRows> kDepthwiseConv2dRows =
    depthwise_conv2d_rows_kernel(run_depthwise_conv2d_rows);

}  // namespace cmsis_nn_delegate::portable
