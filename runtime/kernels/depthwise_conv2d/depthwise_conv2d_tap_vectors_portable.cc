#include "runtime/kernels/common/channel_windows.h"
#include "runtime/kernels/common/depthwise_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_tap_vectors(const void* args, const Bases& bases) {
  return compute_depthwise_vectors<PlainChannelWindowsOf<std::int8_t>,
                                   payload::DepthwiseConv2dTapVectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dTapVectors> kDepthwiseConv2dTapVectors =
    depthwise_vectors_kernel<std::int8_t, payload::DepthwiseConv2dTapVectorsArgs>(
        operators::kDepthwiseConv2dTapVectors, run_depthwise_conv2d_tap_vectors);

}  // namespace cmsis_nn_delegate::portable
