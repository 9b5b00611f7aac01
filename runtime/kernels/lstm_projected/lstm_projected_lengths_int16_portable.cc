#include "runtime/kernels/lstm_projected/lstm_projected.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmProjectedLengthsInt16Args;
using Format = RecurrentFormat<std::int16_t>;

}  // namespace

Error run_lstm_projected_lengths_int16(const void* args, const Bases& bases) {
  return compute_lstm_projected<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmProjectedLengthsInt16> kLstmProjectedLengthsInt16 =
    Kernel(operators::kLstmProjectedLengthsInt16, run_lstm_projected_lengths_int16,
           lstm_projected_scratch_bytes<Args, Format::Element>);

}  // namespace cmsis_nn_delegate::portable
