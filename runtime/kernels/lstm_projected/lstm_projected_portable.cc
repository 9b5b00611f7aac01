#include "runtime/kernels/lstm_projected/lstm_projected.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmProjectedArgs;

}  // namespace

Error run_lstm_projected(const void* args, const Bases& bases) {
  return compute_lstm_projected(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmProjected> kLstmProjected =
    Kernel(operators::kLstmProjected, run_lstm_projected, lstm_projected_scratch_bytes<Args>);

}  // namespace cmsis_nn_delegate::portable
