#include "runtime/kernels/portable/convolution.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kConv2d> kConv2d =
    Kernel(operators::kConv2d, run_convolution<payload::Conv2dArgs>);

}  // namespace portable
}  // namespace cmsis_nn_delegate
