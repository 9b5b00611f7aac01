#include "runtime/kernels/rnn/rnn.h"

namespace cmsis_nn_delegate::portable {

Error run_rnn(const void* args, const Bases& bases) {
  return compute_rnn(*static_cast<const payload::RnnArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kRnn> kRnn = Kernel(operators::kRnn, run_rnn);

}  // namespace cmsis_nn_delegate::portable
