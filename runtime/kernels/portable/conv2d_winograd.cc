#include "runtime/kernels/portable/conv2d_winograd.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kConv2dWinograd> kConv2dWinograd =
    conv2d_winograd_kernel<PlainWinogradLanes>();

Error conv2d_winograd(const payload::Conv2dWinogradArgs& args, const Bases& bases) {
  return kConv2dWinograd.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
