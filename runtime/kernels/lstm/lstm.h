// Computes LSTM layers in plain C++.
#pragma once

#include "runtime/kernels/common/lstm_product.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

template <typename Format = RecurrentFormat<>, typename Args>
Error compute_lstm(const Args& a, const Bases& bases) {
  const auto start = [&](const auto&, std::int32_t batch) {
    return lstm_start<typename Format::Element>(a, bases, batch);
  };
  const auto unit = [&](auto& layer, std::int32_t j, std::int16_t* cells) {
    const std::int32_t product = lstm_product(a, layer, j, cells);
    layer.put(j, requantize(product, a.output_multiplier, a.output_shift));
  };
  return run_recurrent_layer<Format>(a, bases, start, unit);
}

}  // namespace cmsis_nn_delegate::portable
