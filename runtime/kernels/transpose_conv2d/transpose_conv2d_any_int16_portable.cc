#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/transpose_conv2d/transposed.h"

namespace cmsis_nn_delegate::portable {

Error run_transpose_conv2d_any_int16(const void* args, const Bases& bases) {
  return run_transposed<payload::TransposeConv2dAnyInt16Args, std::int16_t>(args, bases);
}

constexpr KernelOf<payload::Opcode::kTransposeConv2dAnyInt16> kTransposeConv2dAnyInt16 =
    Kernel(operators::kTransposeConv2dAnyInt16,
           run_transposed<payload::TransposeConv2dAnyInt16Args, std::int16_t>);

}  // namespace cmsis_nn_delegate::portable
