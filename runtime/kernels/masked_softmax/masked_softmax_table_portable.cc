#include "runtime/kernels/masked_softmax/masked_softmax_table.h"

namespace cmsis_nn_delegate::portable {

Error run_masked_softmax_table(const void* args, const Bases& bases) {
  return compute_masked_softmax_table<PlainSoftmaxRows>(args, bases);
}

constexpr KernelOf<payload::Opcode::kMaskedSoftmaxTable> kMaskedSoftmaxTable =
    masked_softmax_table_kernel(run_masked_softmax_table);

}  // namespace cmsis_nn_delegate::portable
