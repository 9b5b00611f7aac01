#include "runtime/kernels/depthwise_conv2d/depthwise_conv2d_rows.h"

#include "runtime/kernels/depthwise_conv2d/channel_rows_scalar.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_rows(const void* args, const Bases& bases) {
  return portable::compute_depthwise_conv2d_rows<
      DspOrScalar<portable::PlainChannelRows, ScalarChannelRows, portable::PlainChannelRows>>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dRows> kDepthwiseConv2dRows =
    portable::depthwise_conv2d_rows_kernel(run_depthwise_conv2d_rows);

}  // namespace cmsis_nn_delegate::tuned
