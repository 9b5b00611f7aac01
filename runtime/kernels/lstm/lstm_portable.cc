#include "runtime/kernels/lstm/lstm.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmArgs;

}  // namespace

Error run_lstm(const void* args, const Bases& bases) {
  return compute_lstm(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstm> kLstm = Kernel(operators::kLstm, run_lstm);

}  // namespace cmsis_nn_delegate::portable
