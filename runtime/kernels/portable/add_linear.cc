#include "runtime/kernels/portable/add_linear.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kAddLinear> kAddLinear = add_linear_kernel<PlainLinearSums>();

}  // namespace portable
}  // namespace cmsis_nn_delegate
