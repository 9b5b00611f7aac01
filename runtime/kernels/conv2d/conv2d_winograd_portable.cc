#include "runtime/kernels/conv2d/conv2d_winograd.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_winograd(const void* args, const Bases& bases) {
  return compute_conv2d_winograd<PlainWinogradLanes>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dWinograd> kConv2dWinograd =
    conv2d_winograd_kernel(run_conv2d_winograd);

}  // namespace cmsis_nn_delegate::portable
