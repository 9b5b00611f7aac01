#include "runtime/kernels/lstm/lstm.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmInt4Args;
using Format = RecurrentFormat<std::int8_t, /*kNibbles=*/true>;

}  // namespace

Error run_lstm_int4(const void* args, const Bases& bases) {
  return compute_lstm<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmInt4> kLstmInt4 =
    Kernel(operators::kLstmInt4, run_lstm_int4);

}  // namespace cmsis_nn_delegate::portable
