#include "runtime/kernels/batch_matmul/batch_matmul_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_batch_matmul_vectors(const void* args, const Bases& bases) {
  return compute_batch_matmul_vectors<PlainMatrixVectors>(args, bases);
}

constexpr KernelOf<payload::Opcode::kBatchMatmulVectors> kBatchMatmulVectors =
    batch_matmul_vectors_kernel(run_batch_matmul_vectors);

}  // namespace cmsis_nn_delegate::portable
