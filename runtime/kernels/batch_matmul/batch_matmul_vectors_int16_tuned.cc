#include "runtime/kernels/batch_matmul/batch_matmul_vectors_int16.h"
#include "runtime/kernels/batch_matmul/matrix_vectors_int16_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_batch_matmul_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_batch_matmul_vectors_int16<
      MveOr<MveMatrixVectorsInt16, portable::PlainMatrixVectorsInt16>>(args, bases);
}

constexpr KernelOf<payload::Opcode::kBatchMatmulVectorsInt16> kBatchMatmulVectorsInt16 =
    portable::batch_matmul_vectors_int16_kernel(run_batch_matmul_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
