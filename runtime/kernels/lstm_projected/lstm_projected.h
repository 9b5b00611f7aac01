// Computes LSTM layers with a projection in plain C++.
#pragma once

#include "runtime/kernels/common/lstm_product.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// For the units of one step of one batch.
template <typename Args, typename Element = std::int8_t>
std::uint32_t lstm_projected_scratch_bytes(const void* args) {
  return static_cast<std::uint32_t>(static_cast<const Args*>(args)->hidden) *
         static_cast<std::uint32_t>(sizeof(Element));
}

/// Returns the zero point of the units: 0 where their type has no other.
template <typename Args>
std::int32_t unit_offset(const Args& args) {
  if constexpr (kHasOutputOffset<Args>) {
    return args.unit_offset;
  } else {
    return 0;
  }
}

template <typename Format = RecurrentFormat<>, typename Args>
Error compute_lstm_projected(const Args& a, const Bases& bases) {
  const auto* projection = bases.resolve<const std::int8_t>(a.projection);
  const auto* bias = bases.resolve<const std::int32_t>(a.projection_bias);
  using Element = typename Format::Element;
  auto* units = bases.resolve<Element>(a.scratch);
  const auto start = [&](const auto&, std::int32_t batch) {
    return lstm_start<Element>(a, bases, batch);
  };
  const auto unit = [&](auto& layer, std::int32_t j, std::int16_t* cells) {
    const std::int32_t product = lstm_product(a, layer, j, cells);
    const std::int32_t value = requantize(product, a.unit_multiplier, a.unit_shift);
    units[j] = saturate_to<Element>(wrapping_add(value, unit_offset(a)));
  };
  const auto project = [&](auto& layer) {
    for (std::int32_t i = 0; i < a.outputs; ++i) {
      const std::int32_t sum = Format::add_row(bias[i], projection, i, units, a.hidden);
      layer.put(i, requantize(sum, a.output_multiplier, a.output_shift));
    }
  };
  return run_recurrent_layer<Format>(a, bases, start, unit, project);
}

}  // namespace cmsis_nn_delegate::portable
