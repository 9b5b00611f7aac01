#include "runtime/kernels/common/depthwise_vectors.h"
#include "runtime/kernels/depthwise_conv2d/channel_nibble_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_int4_vectors(const void* args, const Bases& bases) {
  return compute_depthwise_vectors<PlainChannelNibbleVectors,
                                   payload::DepthwiseConv2dInt4VectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dInt4Vectors> kDepthwiseConv2dInt4Vectors =
    depthwise_vectors_kernel<std::int8_t, payload::DepthwiseConv2dInt4VectorsArgs,
                             channel_nibble_vectors::block_words>(
        operators::kDepthwiseConv2dInt4Vectors, run_depthwise_conv2d_int4_vectors);

}  // namespace cmsis_nn_delegate::portable
