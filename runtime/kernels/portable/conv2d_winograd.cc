#include "runtime/kernels/portable/conv2d_winograd.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kConv2dWinograd> kConv2dWinograd =
    conv2d_winograd_kernel<PlainWinogradLanes>();

}  // namespace portable
}  // namespace cmsis_nn_delegate
