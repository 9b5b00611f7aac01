#include "runtime/kernels/depthwise_conv2d/depthwise_conv2d_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_vectors(const void* args, const Bases& bases) {
  return compute_depthwise_conv2d_vectors<PlainChannelVectors>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dVectors> kDepthwiseConv2dVectors =
    depthwise_conv2d_vectors_kernel(run_depthwise_conv2d_vectors);

}  // namespace cmsis_nn_delegate::portable
