#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/transpose/transpose.h"

namespace cmsis_nn_delegate::portable {

Error run_transpose_int16(const void* args, const Bases& bases) {
  transpose_elements<std::int16_t>(*static_cast<const payload::TransposeInt16Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kTransposeInt16> kTransposeInt16 =
    Kernel(operators::kTransposeInt16, run_transpose_int16);

}  // namespace cmsis_nn_delegate::portable
