#include <cstring>

#include "runtime/kernels/lstm/lstm_steps_cmsis_nn.h"

namespace cmsis_nn_delegate {
namespace cmsis_nn {
namespace {

using Args = payload::LstmArgs;

/// The cells of one batch, two gates, and zeros as the output before the first step.
std::uint32_t scratch_bytes(const void* args) {
  return (3 * 2 + 1) * static_cast<std::uint32_t>(static_cast<const Args*>(args)->hidden);
}

}  // namespace

// Each step is a call of arm_nn_lstm_step_s8().
Error run_lstm(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  auto* cells = bases.resolve<std::int16_t>(a.scratch);
  std::int16_t* gates = cells + a.hidden;
  auto* zeros = reinterpret_cast<std::int8_t*>(gates + 2 * a.hidden);
  std::memset(zeros, a.output_offset, static_cast<std::size_t>(a.hidden));
  for (std::int32_t batch = 0; batch < a.batch; ++batch) {
    std::memset(cells, 0, 2 * static_cast<std::size_t>(a.hidden));
    const Error error = run_lstm_steps(a, bases, batch, cells, gates, zeros);
    if (error != Error::Ok) {
      return error;
    }
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kLstm> kLstm =
    cmsis_nn_kernel(operators::kLstm, run_lstm, scratch_bytes);

}  // namespace cmsis_nn
}  // namespace cmsis_nn_delegate
