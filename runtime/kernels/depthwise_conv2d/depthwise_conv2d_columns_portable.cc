#include "runtime/kernels/depthwise_conv2d/depthwise_columns.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_columns(const void* args, const Bases& bases) {
  return compute_depthwise_columns<PlainChannelColumns>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dColumns> kDepthwiseConv2dColumns =
    depthwise_columns_kernel(run_depthwise_conv2d_columns);

}  // namespace cmsis_nn_delegate::portable
