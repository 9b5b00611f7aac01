#include "runtime/kernels/softmax/softmax_table.h"

#include "runtime/kernels/common/softmax_table_rows_mve.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_softmax_table(const void* args, const Bases& bases) {
  return portable::compute_softmax_table<SoftmaxRows>(args, bases);
}

constexpr KernelOf<payload::Opcode::kSoftmaxTable> kSoftmaxTable =
    portable::softmax_table_kernel(run_softmax_table);

}  // namespace cmsis_nn_delegate::tuned
