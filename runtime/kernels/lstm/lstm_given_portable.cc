#include "runtime/kernels/lstm/lstm_unit.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

using Args = payload::LstmGivenArgs;

}  // namespace

Error run_lstm_given(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  run_recurrent_layer(
      a, bases,
      [&](RecurrentLayer<Args>&, std::int32_t batch) {
        RecurrentStart start = start_from(a, bases, a.initial_cells, a.last_cells, batch);
        start.before = bases.resolve<const std::int8_t>(a.initial_hidden) + batch * a.hidden;
        return start;
      },
      [&](RecurrentLayer<Args>& layer, std::int32_t j, std::int16_t* cells) {
        compute_lstm_unit(a, layer, j, cells);
      });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLstmGiven> kLstmGiven =
    Kernel(operators::kLstmGiven, run_lstm_given);

}  // namespace portable
}  // namespace cmsis_nn_delegate
