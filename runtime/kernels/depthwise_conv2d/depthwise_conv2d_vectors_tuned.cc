#include <type_traits>

#include "runtime/kernels/depthwise_conv2d/depthwise_conv2d_vectors.h"

#include "runtime/kernels/depthwise_conv2d/channel_vectors_mve.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace tuned {
namespace {

// The compiler gives this kernel calls only for MVE; elsewhere it is complete, and slow.
using Vectors = std::conditional_t<kCompiledIsa == payload::Isa::kMve, MveChannelVectors,
                                   portable::PlainChannelVectors>;

}  // namespace

Error run_depthwise_conv2d_vectors(const void* args, const Bases& bases) {
  return portable::compute_depthwise_conv2d_vectors<Vectors>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dVectors> kDepthwiseConv2dVectors =
    portable::depthwise_conv2d_vectors_kernel(run_depthwise_conv2d_vectors);

}  // namespace tuned
}  // namespace cmsis_nn_delegate
