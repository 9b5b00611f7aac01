#include "runtime/kernels/lstm/lstm.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmLengthsInt4Int16Args;
using Format = RecurrentFormat<std::int16_t, /*kNibbles=*/true>;

}  // namespace

Error run_lstm_lengths_int4_int16(const void* args, const Bases& bases) {
  return compute_lstm<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengthsInt4Int16> kLstmLengthsInt4Int16 =
    Kernel(operators::kLstmLengthsInt4Int16, run_lstm_lengths_int4_int16);

}  // namespace cmsis_nn_delegate::portable
