#include "runtime/kernels/lstm_projected/lstm_projected.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmProjectedInt16Args;
using Format = RecurrentFormat<std::int16_t>;

}  // namespace

Error run_lstm_projected_int16(const void* args, const Bases& bases) {
  return compute_lstm_projected<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmProjectedInt16> kLstmProjectedInt16 =
    Kernel(operators::kLstmProjectedInt16, run_lstm_projected_int16,
           lstm_projected_scratch_bytes<Args, Format::Element>);

}  // namespace cmsis_nn_delegate::portable
