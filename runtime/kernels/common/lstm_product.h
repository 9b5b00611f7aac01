// Cells of LSTM layers, with and without a projection.
#pragma once

#include "runtime/kernels/common/recurrent.h"

namespace cmsis_nn_delegate::portable {

/// Where a batch starts from.
template <typename Element = std::int8_t, typename Args>
RecurrentStartOf<Element> lstm_start(const Args& a, const Bases& bases, std::int32_t batch) {
  return {initial_state(a, bases, a.initial_cells, a.last_cells, batch),
          initial_output<Element>(a, bases, batch)};
}

/// Updates the cell of unit `j`. Returns o * tanh(c), in Q30.
template <typename Args, typename Layer>
[[gnu::always_inline]] inline std::int32_t lstm_product(const Args& a, const Layer& layer,
                                                        std::int32_t j, std::int16_t* cells) {
  constexpr std::int32_t kHalf = std::int32_t{1} << 30;  // in Q31
  const std::int32_t i = sigmoid_16(layer.gate(j, 0, a.input_gate));
  const std::int32_t f = sigmoid_16(layer.gate(j, 1, a.forget_gate));
  const std::int32_t g = tanh_16(layer.gate(j, 2, a.cell_gate));
  const std::int32_t o = sigmoid_16(layer.gate(j, 3, a.output_gate));
  // Q15 products in the steps of the cells.
  const std::int32_t kept = saturate_16(requantize(f * cells[j], kHalf, -14));
  const std::int32_t added = requantize(i * g, kHalf, a.cell_bits - 29);
  const std::int32_t cell = saturate_16(kept + added);
  cells[j] = static_cast<std::int16_t>(cell);
  return o * tanh_16(cell, a.cell_bits);
}

}  // namespace cmsis_nn_delegate::portable
