#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/rnn/rnn_unit.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

using Args = payload::RnnGivenArgs;

}  // namespace

Error run_rnn_given(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  const auto* initial = bases.resolve<const std::int8_t>(a.initial_hidden);
  run_recurrent_layer(
      a, bases,
      [&](RecurrentLayer<Args>&, std::int32_t batch) {
        return RecurrentStart{nullptr, initial + batch * a.hidden};
      },
      [&](RecurrentLayer<Args>& layer, std::int32_t j, std::int16_t* /*state*/) {
        compute_rnn_unit(a, layer, j);
      });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kRnnGiven> kRnnGiven =
    Kernel(operators::kRnnGiven, run_rnn_given);

}  // namespace portable
}  // namespace cmsis_nn_delegate
