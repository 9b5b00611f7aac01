#include "runtime/kernels/gru/gru_unit.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

using Args = payload::GruGivenArgs;

/// For the output before the first step, of one batch.
std::uint32_t scratch_bytes(const void* args) {
  return static_cast<std::uint32_t>(static_cast<const Args*>(args)->hidden);
}

}  // namespace

Error run_gru_given(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  auto* before = bases.resolve<std::int8_t>(a.scratch);
  run_recurrent_layer(
      a, bases,
      [&](RecurrentLayer<Args>& layer, std::int32_t batch) {
        RecurrentStart start = start_from(a, bases, a.initial_state, a.last_state, batch);
        for (std::int32_t j = 0; j < a.hidden; ++j) {
          before[j] =
              layer.output_of(requantize(start.state[j], a.output_multiplier, a.output_shift));
        }
        start.before = before;
        return start;
      },
      [&](RecurrentLayer<Args>& layer, std::int32_t j, std::int16_t* state) {
        compute_gru_unit(a, layer, j, state);
      });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kGruGiven> kGruGiven =
    Kernel(operators::kGruGiven, run_gru_given, scratch_bytes);

}  // namespace portable
}  // namespace cmsis_nn_delegate
