#include "runtime/kernels/lstm/lstm_unit.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

using Args = payload::LstmArgs;

}  // namespace

Error run_lstm(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  run_recurrent_layer(
      a, bases,
      [&](RecurrentLayer<Args>&, std::int32_t /*batch*/) { return start_from_zeros(a, bases); },
      [&](RecurrentLayer<Args>& layer, std::int32_t j, std::int16_t* cells) {
        compute_lstm_unit(a, layer, j, cells);
      });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLstm> kLstm =
    Kernel(operators::kLstm, run_lstm, recurrent_state_bytes<Args>);

}  // namespace portable
}  // namespace cmsis_nn_delegate
