#include "runtime/kernels/portable/depthwise_conv2d_rows.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dRows> kDepthwiseConv2dRows =
    depthwise_conv2d_rows_kernel<PlainChannelRows>();

Error depthwise_conv2d_rows(const payload::DepthwiseConv2dRowsArgs& args, const Bases& bases) {
  return kDepthwiseConv2dRows.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
