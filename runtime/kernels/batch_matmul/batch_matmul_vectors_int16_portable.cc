#include "runtime/kernels/batch_matmul/batch_matmul_vectors_int16.h"

namespace cmsis_nn_delegate::portable {

Error run_batch_matmul_vectors_int16(const void* args, const Bases& bases) {
  return compute_batch_matmul_vectors_int16<PlainMatrixVectorsInt16>(args, bases);
}

constexpr KernelOf<payload::Opcode::kBatchMatmulVectorsInt16> kBatchMatmulVectorsInt16 =
    batch_matmul_vectors_int16_kernel(run_batch_matmul_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
