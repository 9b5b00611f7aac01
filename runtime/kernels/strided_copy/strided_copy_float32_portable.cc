#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/strided_copy/strided_copy.h"

namespace cmsis_nn_delegate::portable {

Error run_strided_copy_float32(const void* args, const Bases& bases) {
  copy_strided<float>(*static_cast<const payload::StridedCopyFloat32Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kStridedCopyFloat32> kStridedCopyFloat32 =
    Kernel(operators::kStridedCopyFloat32, run_strided_copy_float32);

}  // namespace cmsis_nn_delegate::portable
