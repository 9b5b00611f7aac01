#include <type_traits>

#include "runtime/kernels/portable/depthwise_conv2d_vectors.h"

#include "runtime/kernels/tuned/channel_vectors_mve.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace tuned {
namespace {

// The compiler gives this kernel calls only for MVE; elsewhere it is complete, and slow.
using Vectors = std::conditional_t<kCompiledIsa == payload::Isa::kMve, MveChannelVectors,
                                   portable::PlainChannelVectors>;

}  // namespace

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dVectors> kDepthwiseConv2dVectors =
    portable::depthwise_conv2d_vectors_kernel<Vectors>();

Error depthwise_conv2d_vectors(const payload::DepthwiseConv2dVectorsArgs& args,
                               const Bases& bases) {
  return kDepthwiseConv2dVectors.run(&args, bases);
}

}  // namespace tuned
}  // namespace cmsis_nn_delegate
