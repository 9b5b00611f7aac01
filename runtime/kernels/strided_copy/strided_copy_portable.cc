#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/strided_copy/strided_copy.h"

namespace cmsis_nn_delegate::portable {

Error run_strided_copy(const void* args, const Bases& bases) {
  copy_strided<std::int8_t>(*static_cast<const payload::StridedCopyArgs*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kStridedCopy> kStridedCopy =
    Kernel(operators::kStridedCopy, run_strided_copy);

}  // namespace cmsis_nn_delegate::portable
