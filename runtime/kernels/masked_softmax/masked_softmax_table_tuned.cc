#include "runtime/kernels/masked_softmax/masked_softmax_table.h"

#include "runtime/kernels/common/softmax_table_rows_mve.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_masked_softmax_table(const void* args, const Bases& bases) {
  return portable::compute_masked_softmax_table<SoftmaxRows>(args, bases);
}

constexpr KernelOf<payload::Opcode::kMaskedSoftmaxTable> kMaskedSoftmaxTable =
    portable::masked_softmax_table_kernel(run_masked_softmax_table);

}  // namespace cmsis_nn_delegate::tuned
