#include "runtime/kernels/depthwise_conv2d/depthwise_windows.h"
#include "runtime/kernels/depthwise_conv2d/window_vectors_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_depthwise_conv2d_windows(const void* args, const Bases& bases) {
  return portable::compute_depthwise_windows<MveOr<MveWindowVectors, portable::PlainWindowVectors>,
                                             payload::DepthwiseConv2dWindowsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dWindows> kDepthwiseConv2dWindows =
    portable::depthwise_windows_kernel(run_depthwise_conv2d_windows);

}  // namespace cmsis_nn_delegate::tuned
