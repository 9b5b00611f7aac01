#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/strided_copy/strided_copy.h"

namespace cmsis_nn_delegate::portable {

Error run_strided_copy_int16(const void* args, const Bases& bases) {
  copy_strided<std::int16_t>(*static_cast<const payload::StridedCopyInt16Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kStridedCopyInt16> kStridedCopyInt16 =
    Kernel(operators::kStridedCopyInt16, run_strided_copy_int16);

}  // namespace cmsis_nn_delegate::portable
