#include "runtime/kernels/common/depthwise_vectors.h"
#include "runtime/kernels/depthwise_conv2d/channel_vectors.h"
#include "runtime/kernels/depthwise_conv2d/channel_vectors_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_vectors(const void* args, const Bases& bases) {
  return portable::compute_depthwise_vectors<
      MveOr<MveChannelVectors, portable::PlainChannelVectors>, payload::DepthwiseConv2dVectorsArgs>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dVectors> kDepthwiseConv2dVectors =
    portable::depthwise_vectors_kernel<std::int8_t, payload::DepthwiseConv2dVectorsArgs>(
        operators::kDepthwiseConv2dVectors, run_depthwise_conv2d_vectors);

}  // namespace cmsis_nn_delegate::tuned
