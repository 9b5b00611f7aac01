#include "runtime/kernels/rnn/rnn.h"

namespace cmsis_nn_delegate::portable {

Error run_rnn_lengths(const void* args, const Bases& bases) {
  return compute_rnn(*static_cast<const payload::RnnLengthsArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kRnnLengths> kRnnLengths =
    Kernel(operators::kRnnLengths, run_rnn_lengths);

}  // namespace cmsis_nn_delegate::portable
