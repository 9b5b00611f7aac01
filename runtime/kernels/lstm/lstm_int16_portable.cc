#include "runtime/kernels/lstm/lstm.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmInt16Args;
using Format = RecurrentFormat<std::int16_t>;

}  // namespace

Error run_lstm_int16(const void* args, const Bases& bases) {
  return compute_lstm<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmInt16> kLstmInt16 =
    Kernel(operators::kLstmInt16, run_lstm_int16);

}  // namespace cmsis_nn_delegate::portable
