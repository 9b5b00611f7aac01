// Computes LSTM layers with a projection in plain C++.
#pragma once

#include "runtime/kernels/common/lstm_product.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// For the units of one step of one batch.
template <typename Args>
std::uint32_t lstm_projected_scratch_bytes(const void* args) {
  return static_cast<std::uint32_t>(static_cast<const Args*>(args)->hidden);
}

template <typename Args>
Error compute_lstm_projected(const Args& a, const Bases& bases) {
  const auto* projection = bases.resolve<const std::int8_t>(a.projection);
  const auto* bias = bases.resolve<const std::int32_t>(a.projection_bias);
  auto* units = bases.resolve<std::int8_t>(a.scratch);
  const auto start = [&](const RecurrentLayer<Args>&, std::int32_t batch) {
    return lstm_start(a, bases, batch);
  };
  const auto unit = [&](RecurrentLayer<Args>& layer, std::int32_t j, std::int16_t* cells) {
    const std::int32_t product = lstm_product(a, layer, j, cells);
    units[j] = saturate_8(
        wrapping_add(requantize(product, a.unit_multiplier, a.unit_shift), a.unit_offset));
  };
  const auto project = [&](RecurrentLayer<Args>& layer) {
    for (std::int32_t i = 0; i < a.outputs; ++i) {
      const std::int32_t sum = dot(units, projection + i * a.hidden, a.hidden, bias[i]);
      layer.put(i, requantize(sum, a.output_multiplier, a.output_shift));
    }
  };
  return run_recurrent_layer(a, bases, start, unit, project);
}

}  // namespace cmsis_nn_delegate::portable
