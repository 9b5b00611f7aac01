#include "runtime/kernels/depthwise_conv2d/channel_columns_mve.h"
#include "runtime/kernels/depthwise_conv2d/depthwise_columns.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_columns(const void* args, const Bases& bases) {
  return portable::compute_depthwise_columns<
      MveOr<MveChannelColumns, portable::PlainChannelColumns>>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dColumns> kDepthwiseConv2dColumns =
    portable::depthwise_columns_kernel(run_depthwise_conv2d_columns);

}  // namespace cmsis_nn_delegate::tuned
