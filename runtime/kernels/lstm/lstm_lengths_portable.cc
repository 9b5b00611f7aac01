#include "runtime/kernels/lstm/lstm.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmLengthsArgs;

}  // namespace

Error run_lstm_lengths(const void* args, const Bases& bases) {
  return compute_lstm(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengths> kLstmLengths =
    Kernel(operators::kLstmLengths, run_lstm_lengths);

}  // namespace cmsis_nn_delegate::portable
