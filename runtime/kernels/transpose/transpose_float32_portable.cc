#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/transpose/transpose.h"

namespace cmsis_nn_delegate::portable {

Error run_transpose_float32(const void* args, const Bases& bases) {
  transpose_elements<float>(*static_cast<const payload::TransposeFloat32Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kTransposeFloat32> kTransposeFloat32 =
    Kernel(operators::kTransposeFloat32, run_transpose_float32);

}  // namespace cmsis_nn_delegate::portable
