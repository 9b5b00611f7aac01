// A unit of a simple recurrent layer.
#pragma once

#include "runtime/kernels/common/recurrent.h"

namespace cmsis_nn_delegate {
namespace portable {

/// Computes a step of unit `j`, for RnnArgs and RnnGivenArgs.
template <typename Args>
void compute_rnn_unit(const Args& a, RecurrentLayer<Args>& layer, std::int32_t j) {
  constexpr std::int32_t kReluBits = 7;  // that the gate has more than the output
  const std::int32_t gate = layer.gate(j, 0, a.new_gate);
  const std::int32_t positive = gate < 0 ? 0 : half_up(gate, kReluBits);
  layer.put(
      j, a.relu != 0 ? positive : requantize(tanh_16(gate), a.output_multiplier, a.output_shift));
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
