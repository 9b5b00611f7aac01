#include "runtime/kernels/softmax/softmax_table.h"

namespace cmsis_nn_delegate::portable {

Error run_softmax_table(const void* args, const Bases& bases) {
  return compute_softmax_table<PlainSoftmaxRows>(args, bases);
}

constexpr KernelOf<payload::Opcode::kSoftmaxTable> kSoftmaxTable =
    softmax_table_kernel(run_softmax_table);

}  // namespace cmsis_nn_delegate::portable
