// Computes simple recurrent layers in plain C++.
#pragma once

#include "runtime/kernels/common/recurrent.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

template <typename Format = RecurrentFormat<>, typename Args>
Error compute_rnn(const Args& a, const Bases& bases) {
  using Element = typename Format::Element;
  constexpr std::int32_t kReluBits =
      sizeof(Element) == 1 ? 7 : 0;  // that the gate has more than the output
  const auto start = [&](const auto&, std::int32_t batch) {
    return RecurrentStartOf<Element>{nullptr, initial_output<Element>(a, bases, batch)};
  };
  const auto unit = [&](auto& layer, std::int32_t j, std::int16_t* /*state*/) {
    const std::int32_t gate = layer.gate(j, 0, a.new_gate);
    const std::int32_t positive = gate < 0 ? 0 : half_up(gate, kReluBits);
    layer.put(
        j, a.relu != 0 ? positive : requantize(tanh_16(gate), a.output_multiplier, a.output_shift));
  };
  return run_recurrent_layer<Format>(a, bases, start, unit);
}

}  // namespace cmsis_nn_delegate::portable
