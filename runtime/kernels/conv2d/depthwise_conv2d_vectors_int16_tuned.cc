#include "runtime/kernels/common/channel_windows.h"
#include "runtime/kernels/common/depthwise_vectors.h"
#include "runtime/kernels/conv2d/channel_vectors_int16_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_depthwise_vectors<
      MveOr<MveChannelVectorsInt16, portable::PlainChannelWindowsOf<std::int16_t>>,
      payload::DepthwiseConv2dVectorsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dVectorsInt16> kDepthwiseConv2dVectorsInt16 =
    portable::depthwise_vectors_kernel<std::int16_t, payload::DepthwiseConv2dVectorsInt16Args>(
        operators::kDepthwiseConv2dVectorsInt16, run_depthwise_conv2d_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
