#include "runtime/kernels/depthwise_conv2d/depthwise_windows.h"

namespace cmsis_nn_delegate::portable {

Error run_depthwise_conv2d_windows(const void* args, const Bases& bases) {
  return compute_depthwise_windows<PlainWindowVectors, payload::DepthwiseConv2dWindowsArgs>(args,
                                                                                            bases);
}

constexpr KernelOf<payload::Opcode::kDepthwiseConv2dWindows> kDepthwiseConv2dWindows =
    depthwise_windows_kernel(run_depthwise_conv2d_windows);

}  // namespace cmsis_nn_delegate::portable
