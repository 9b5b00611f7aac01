#include "runtime/kernels/common/depthwise_vectors.h"
#include "runtime/kernels/depthwise_conv2d/channel_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_vectors(const void* args, const Bases& bases) {
  return compute_depthwise_vectors<PlainChannelVectors, payload::DepthwiseConv2dVectorsArgs>(args,
                                                                                             bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dVectors> kDepthwiseConv2dVectors =
    depthwise_vectors_kernel<std::int8_t, payload::DepthwiseConv2dVectorsArgs>(
        operators::kDepthwiseConv2dVectors, run_depthwise_conv2d_vectors);

}  // namespace cmsis_nn_delegate::portable
