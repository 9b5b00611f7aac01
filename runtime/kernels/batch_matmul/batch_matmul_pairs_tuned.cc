#include "runtime/kernels/batch_matmul/batch_matmul_pairs.h"
#include "runtime/kernels/batch_matmul/matrix_pairs_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_batch_matmul_pairs(const void* args, const Bases& bases) {
  return portable::compute_batch_matmul_pairs<DspOr<DspMatrixPairs, portable::PlainMatrixPairs>>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kBatchMatmulPairs> kBatchMatmulPairs =
    portable::batch_matmul_pairs_kernel(run_batch_matmul_pairs);

}  // namespace cmsis_nn_delegate::tuned
