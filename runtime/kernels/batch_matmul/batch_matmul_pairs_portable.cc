#include "runtime/kernels/batch_matmul/batch_matmul_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_batch_matmul_pairs(const void* args, const Bases& bases) {
  return compute_batch_matmul_pairs<PlainMatrixPairs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kBatchMatmulPairs> kBatchMatmulPairs =
    batch_matmul_pairs_kernel(run_batch_matmul_pairs);

}  // namespace cmsis_nn_delegate::portable
