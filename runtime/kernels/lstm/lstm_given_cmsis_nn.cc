#include <cstring>

#include "runtime/kernels/lstm/lstm_steps_cmsis_nn.h"

namespace cmsis_nn_delegate {
namespace cmsis_nn {
namespace {

using Args = payload::LstmGivenArgs;

/// Two gates.
std::uint32_t scratch_bytes(const void* args) {
  return 2 * 2 * static_cast<std::uint32_t>(static_cast<const Args*>(args)->hidden);
}

}  // namespace

// Each step is a call of arm_nn_lstm_step_s8().
Error run_lstm_given(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  const std::size_t count = static_cast<std::size_t>(a.batch) * static_cast<std::size_t>(a.hidden);
  auto* cells = bases.resolve<std::int16_t>(a.last_cells);
  std::memcpy(cells, bases.resolve<const std::int16_t>(a.initial_cells), 2 * count);
  const auto* before = bases.resolve<const std::int8_t>(a.initial_hidden);
  auto* gates = bases.resolve<std::int16_t>(a.scratch);
  for (std::int32_t batch = 0; batch < a.batch; ++batch) {
    const std::int32_t first = batch * a.hidden;
    const Error error = run_lstm_steps(a, bases, batch, cells + first, gates, before + first);
    if (error != Error::Ok) {
      return error;
    }
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLstmGiven> kLstmGiven =
    cmsis_nn_kernel(operators::kLstmGiven, run_lstm_given, scratch_bytes);

}  // namespace cmsis_nn
}  // namespace cmsis_nn_delegate
