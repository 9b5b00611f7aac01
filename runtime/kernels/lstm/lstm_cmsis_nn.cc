#include "runtime/kernels/lstm/lstm_cmsis_nn.h"

namespace cmsis_nn_delegate::cmsis_nn {
namespace {

using Args = payload::LstmArgs;

}  // namespace

Error run_lstm(const void* args, const Bases& bases) {
  return compute_lstm<arm_nn_lstm_step_s8>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstm> kLstm =
    cmsis_nn_kernel(operators::kLstm, run_lstm, lstm_scratch_bytes<Args>);

}  // namespace cmsis_nn_delegate::cmsis_nn
