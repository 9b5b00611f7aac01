#include "runtime/kernels/common/channel_windows.h"
#include "runtime/kernels/common/depthwise_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_vectors_int16(const void* args, const Bases& bases) {
  return compute_depthwise_vectors<PlainChannelWindowsOf<std::int16_t>,
                                   payload::DepthwiseConv2dVectorsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dVectorsInt16> kDepthwiseConv2dVectorsInt16 =
    depthwise_vectors_kernel<std::int16_t, payload::DepthwiseConv2dVectorsInt16Args>(
        operators::kDepthwiseConv2dVectorsInt16, run_depthwise_conv2d_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
