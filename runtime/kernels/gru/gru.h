// Computes GRU layers in plain C++.
#pragma once

#include "runtime/kernels/common/recurrent.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// For the output before the first step, of one batch.
template <typename Args, typename Element = std::int8_t>
std::uint32_t gru_scratch_bytes(const void* args) {
  return static_cast<std::uint32_t>(static_cast<const Args*>(args)->hidden) *
         static_cast<std::uint32_t>(sizeof(Element));
}

template <typename Format = RecurrentFormat<>, typename Args>
Error compute_gru(const Args& a, const Bases& bases) {
  using Element = typename Format::Element;
  auto* before = bases.resolve<Element>(a.scratch);
  const auto start = [&](const auto& layer, std::int32_t batch) {
    std::int16_t* state = initial_state(a, bases, a.initial_state, a.last_state, batch);
    for (std::int32_t j = 0; j < a.hidden; ++j) {
      before[j] = layer.output_of(requantize(state[j], a.output_multiplier, a.output_shift));
    }
    return RecurrentStartOf<Element>{state, before};
  };
  const auto unit = [&](auto& layer, std::int32_t j, std::int16_t* state) {
    const std::int32_t reset = sigmoid_16(layer.gate(j, 0, a.reset_gate));
    const std::int32_t update = sigmoid_16(layer.gate(j, 1, a.update_gate));
    const std::int32_t row = 2 * a.hidden + j;
    const std::int32_t recurrent = saturate_16(layer.recurrent_sum(row, a.new_gate));
    const std::int32_t added = half_up(reset * recurrent, 3 + a.new_bits);
    const std::int32_t fresh = tanh_16(saturate_16(layer.input_sum(row, a.new_gate) + added));
    // The difference has 17 bits: times 15 bits, and rounded, it fits 32 bits.
    const std::int32_t next = fresh + half_up(update * (state[j] - fresh), 15);
    state[j] = static_cast<std::int16_t>(next);
    layer.put(j, requantize(next, a.output_multiplier, a.output_shift));
  };
  return run_recurrent_layer<Format>(a, bases, start, unit);
}

}  // namespace cmsis_nn_delegate::portable
