#include "runtime/kernels/portable/depthwise_conv2d_rows.h"

#include "runtime/kernels/tuned/channel_rows_scalar.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace tuned {
namespace {

// The compiler gives this kernel calls only for cores without DSP; elsewhere it is complete, and slow.
using Rows = DspOrScalar<portable::PlainChannelRows, ScalarChannelRows, portable::PlainChannelRows>;

}  // namespace

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dRows> kDepthwiseConv2dRows =
    portable::depthwise_conv2d_rows_kernel<Rows>();

Error depthwise_conv2d_rows(const payload::DepthwiseConv2dRowsArgs& args, const Bases& bases) {
  return kDepthwiseConv2dRows.run(&args, bases);
}

}  // namespace tuned
}  // namespace cmsis_nn_delegate
