#include "runtime/kernels/common/channel_windows.h"
#include "runtime/kernels/common/depthwise_vectors.h"
#include "runtime/kernels/depthwise_conv2d/channel_windows_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_tap_vectors(const void* args, const Bases& bases) {
  return portable::compute_depthwise_vectors<
      MveOr<MveChannelWindows, portable::PlainChannelWindowsOf<std::int8_t>>,
      payload::DepthwiseConv2dTapVectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dTapVectors> kDepthwiseConv2dTapVectors =
    portable::depthwise_vectors_kernel<std::int8_t, payload::DepthwiseConv2dTapVectorsArgs>(
        operators::kDepthwiseConv2dTapVectors, run_depthwise_conv2d_tap_vectors);

}  // namespace cmsis_nn_delegate::tuned
