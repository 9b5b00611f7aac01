#include "runtime/kernels/strided_copy/strided_copy_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_strided_copy_vectors(const void* args, const Bases& bases) {
  return compute_strided_copy_vectors<PlainCopies>(args, bases);
}

constexpr KernelOf<payload::Opcode::kStridedCopyVectors> kStridedCopyVectors =
    strided_copy_vectors_kernel(run_strided_copy_vectors);

}  // namespace cmsis_nn_delegate::portable
