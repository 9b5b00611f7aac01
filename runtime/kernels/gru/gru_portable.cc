#include "runtime/kernels/gru/gru_unit.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

using Args = payload::GruArgs;

}  // namespace

Error run_gru(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  run_recurrent_layer(
      a, bases,
      [&](RecurrentLayer<Args>&, std::int32_t /*batch*/) { return start_from_zeros(a, bases); },
      [&](RecurrentLayer<Args>& layer, std::int32_t j, std::int16_t* state) {
        compute_gru_unit(a, layer, j, state);
      });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kGru> kGru =
    Kernel(operators::kGru, run_gru, recurrent_state_bytes<Args>);

}  // namespace portable
}  // namespace cmsis_nn_delegate
