#include "runtime/kernels/batch_matmul/batch_matmul_vectors.h"
#include "runtime/kernels/batch_matmul/matrix_vectors_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_batch_matmul_vectors(const void* args, const Bases& bases) {
  return portable::compute_batch_matmul_vectors<
      MveOr<MveMatrixVectors, portable::PlainMatrixVectors>>(args, bases);
}

constexpr KernelOf<payload::Opcode::kBatchMatmulVectors> kBatchMatmulVectors =
    portable::batch_matmul_vectors_kernel(run_batch_matmul_vectors);

}  // namespace cmsis_nn_delegate::tuned
