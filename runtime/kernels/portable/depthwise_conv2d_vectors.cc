#include "runtime/kernels/portable/depthwise_conv2d_vectors.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dVectors> kDepthwiseConv2dVectors =
    depthwise_conv2d_vectors_kernel<PlainChannelVectors>();

Error depthwise_conv2d_vectors(const payload::DepthwiseConv2dVectorsArgs& args,
                               const Bases& bases) {
  return kDepthwiseConv2dVectors.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
