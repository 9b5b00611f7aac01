#include "runtime/kernels/lstm/lstm_cmsis_nn.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

using Args = payload::LstmLengthsArgs;

}  // namespace

Error run_lstm_lengths(const void* args, const Bases& bases) {
  return compute_lstm<arm_nn_lstm_step_s8>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengths> kLstmLengths =
    cmsis_nn_kernel(operators::kLstmLengths, run_lstm_lengths, lstm_scratch_bytes<Args>);

}  // namespace cmsis_nn_delegate::cmsis_nn
