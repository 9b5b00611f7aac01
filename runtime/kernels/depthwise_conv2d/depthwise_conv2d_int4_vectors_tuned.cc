#include "runtime/kernels/common/depthwise_vectors.h"
#include "runtime/kernels/depthwise_conv2d/channel_nibble_vectors_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_int4_vectors(const void* args, const Bases& bases) {
  return portable::compute_depthwise_vectors<
      MveOr<MveChannelNibbleVectors, portable::PlainChannelNibbleVectors>,
      payload::DepthwiseConv2dInt4VectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dInt4Vectors> kDepthwiseConv2dInt4Vectors =
    portable::depthwise_vectors_kernel<std::int8_t, payload::DepthwiseConv2dInt4VectorsArgs,
                                       portable::channel_nibble_vectors::block_words>(
        operators::kDepthwiseConv2dInt4Vectors, run_depthwise_conv2d_int4_vectors);

}  // namespace cmsis_nn_delegate::tuned
