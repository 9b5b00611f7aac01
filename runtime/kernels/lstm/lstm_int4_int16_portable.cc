#include "runtime/kernels/lstm/lstm.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmInt4Int16Args;
using Format = RecurrentFormat<std::int16_t, /*kNibbles=*/true>;

}  // namespace

Error run_lstm_int4_int16(const void* args, const Bases& bases) {
  return compute_lstm<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmInt4Int16> kLstmInt4Int16 =
    Kernel(operators::kLstmInt4Int16, run_lstm_int4_int16);

}  // namespace cmsis_nn_delegate::portable
