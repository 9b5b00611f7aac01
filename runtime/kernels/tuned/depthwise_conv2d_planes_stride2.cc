#include <type_traits>

#include "runtime/kernels/portable/depthwise_conv2d_planes.h"

#include "runtime/kernels/tuned/channel_planes_dsp.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace tuned {
namespace {

// The compiler gives this kernel calls only for DSP; elsewhere it is complete, and slow.
using Planes = std::conditional_t<kCompiledIsa == payload::Isa::kDsp, DspChannelPlanes,
                                  portable::PlainChannelPlanes>;

}  // namespace

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dPlanes> kDepthwiseConv2dPlanesStride2 =
    portable::depthwise_conv2d_planes_kernel<Planes, 2>();

Error depthwise_conv2d_planes_stride2(const payload::DepthwiseConv2dPlanesArgs& args,
                                      const Bases& bases) {
  return kDepthwiseConv2dPlanesStride2.run(&args, bases);
}

}  // namespace tuned
}  // namespace cmsis_nn_delegate
