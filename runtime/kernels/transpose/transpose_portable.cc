#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/transpose/transpose.h"

namespace cmsis_nn_delegate::portable {

Error run_transpose(const void* args, const Bases& bases) {
  transpose_elements<std::int8_t>(*static_cast<const payload::TransposeArgs*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kTranspose> kTranspose =
    Kernel(operators::kTranspose, run_transpose);

}  // namespace cmsis_nn_delegate::portable
