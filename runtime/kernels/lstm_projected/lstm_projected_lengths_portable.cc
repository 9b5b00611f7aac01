#include "runtime/kernels/lstm_projected/lstm_projected.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmProjectedLengthsArgs;

}  // namespace

Error run_lstm_projected_lengths(const void* args, const Bases& bases) {
  return compute_lstm_projected(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmProjectedLengths> kLstmProjectedLengths =
    Kernel(operators::kLstmProjectedLengths, run_lstm_projected_lengths,
           lstm_projected_scratch_bytes<Args>);

}  // namespace cmsis_nn_delegate::portable
