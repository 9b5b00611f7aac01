// What the recurrent layers have in common: the sums of gates and their functions. The formulas are those of
// docs/reference/recurrent_layers.md.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/recurrent_steps.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/sigmoid_table.h"
#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

inline std::int32_t saturate_16(std::int32_t value) {
  return value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value;
}

inline std::int8_t saturate_8(std::int32_t value) {
  return static_cast<std::int8_t>(value < -128 ? -128 : value > 127 ? 127 : value);
}

/// sum + a[0] * b[0] + a[1] * b[1] + ..., of `count` products.
inline std::int32_t dot(const std::int8_t* a, const std::int8_t* b, std::int32_t count,
                        std::int32_t sum) {
  for (std::int32_t i = 0; i < count; ++i) {
    sum = wrapping_add(sum, a[i] * b[i]);
  }
  return sum;
}

/// value / 2^bits, halves up, for `bits` in [0, 30].
inline std::int32_t half_up(std::int32_t value, std::int32_t bits) {
  return wrapping_add(value, (std::int32_t{1} << bits) >> 1) >> bits;
}

/// The sigmoid's table at magnitude / 2^bits, times 2^bits; `saturated` beyond it.
inline std::int32_t interpolate_sigmoid(std::uint32_t magnitude, int bits, std::int32_t saturated) {
  const std::uint32_t index = magnitude >> bits;
  if (index >= 255) {
    return saturated;
  }
  const std::int32_t low = kSigmoidTable[index];
  const auto rest = static_cast<std::int32_t>(magnitude & ((std::uint32_t{1} << bits) - 1));
  return (low << bits) + rest * (kSigmoidTable[index + 1] - low);
}

inline std::uint32_t magnitude_of(std::int32_t value) {
  return static_cast<std::uint32_t>(value < 0 ? wrapping_sub(0, value) : value);
}

/// sigmoid(value * 2^-12) * 2^15, in [0, 32767], for a `value` of 16 bits.
inline std::int32_t sigmoid_16(std::int32_t value) {
  const std::int32_t scaled = value * 3;
  const std::int32_t found = interpolate_sigmoid(magnitude_of(scaled), 9, 0x7FFF << 10);
  return (scaled >= 0 ? found + (1 << 9) : (1 << 25) - found + (1 << 9) - 1) >> 10;
}

/// tanh(value * 2^-bits) * 2^15, in [-32767, 32767], for a `value` of 16 bits and `bits` in [0, 15].
inline std::int32_t tanh_16(std::int32_t value, std::int32_t bits = 12) {
  const std::int32_t scaled =
      bits > 12 ? half_up(value * 3, bits - 12) : value * (3 << (12 - bits));
  const std::int32_t found = interpolate_sigmoid(magnitude_of(scaled), 8, 0xFFFF << 8);
  return (scaled >= 0 ? found - (1 << 23) + (1 << 7) : (1 << 23) - found + (1 << 7) - 1) >> 8;
}

/// The operands of a layer, and where the steps of a batch lie in them.
template <typename Args>
class RecurrentLayer {
 public:
  RecurrentLayer(const Args& args, const Bases& bases)
      : args_(args),
        filter_(bases.resolve<const std::int8_t>(args.filter)),
        recurrent_(bases.resolve<const std::int8_t>(args.recurrent)),
        bias_(bases.resolve<const std::int32_t>(args.bias)),
        recurrent_bias_(bases.resolve<const std::int32_t>(args.recurrent_bias)) {}

  void look_at(const RecurrentStep& step) { step_ = step; }

  /// The requantized sum over the inputs of row `row`, of `gate`.
  std::int32_t input_sum(std::int32_t row, const payload::Gate& gate) const {
    const std::int32_t sum =
        dot(step_.input, filter_ + row * args_.inputs, args_.inputs, bias_[row]);
    return saturate_16(requantize(sum, gate.input_multiplier, gate.input_shift));
  }

  /// The requantized sum over the outputs of the step before.
  std::int32_t recurrent_sum(std::int32_t row, const payload::Gate& gate) const {
    const std::int32_t width = output_width(args_);
    const std::int32_t sum =
        dot(step_.before, recurrent_ + row * width, width, recurrent_bias_[row]);
    return requantize(sum, gate.recurrent_multiplier, gate.recurrent_shift);
  }

  /// The sum of both, in 16 bits, of unit `unit` of gate number `index`.
  std::int32_t gate(std::int32_t unit, std::int32_t index, const payload::Gate& gate) const {
    const std::int32_t row = index * args_.hidden + unit;
    return saturate_16(wrapping_add(input_sum(row, gate), recurrent_sum(row, gate)));
  }

  void put(std::int32_t unit, std::int32_t value) { step_.output[unit] = output_of(value); }

  /// The output for a value without its zero point.
  std::int8_t output_of(std::int32_t value) const {
    return saturate_8(wrapping_add(value, args_.output_offset));
  }

 private:
  const Args& args_;
  const std::int8_t* filter_;
  const std::int8_t* recurrent_;
  const std::int32_t* bias_;
  const std::int32_t* recurrent_bias_;
  RecurrentStep step_ = {};
};

/// Calls unit(layer, j, state) for each unit j of each step of each batch, from start(layer, batch), and finish(layer)
/// after the units of a step. Returns what for_each_step() returns.
template <typename Args, typename Start, typename Unit, typename Finish>
Error run_recurrent_layer(const Args& args, const Bases& bases, const Start& start,
                          const Unit& unit, const Finish& finish) {
  RecurrentLayer<Args> layer(args, bases);
  return for_each_step(
      args, bases, [&](std::int32_t batch, std::int32_t /*steps*/) { return start(layer, batch); },
      [&](const RecurrentStep& step) {
        layer.look_at(step);
        for (std::int32_t j = 0; j < args.hidden; ++j) {
          unit(layer, j, step.state);
        }
        finish(layer);
      });
}

/// The same for layers whose outputs are those of the units.
template <typename Args, typename Start, typename Unit>
Error run_recurrent_layer(const Args& args, const Bases& bases, const Start& start,
                          const Unit& unit) {
  return run_recurrent_layer(args, bases, start, unit, [](RecurrentLayer<Args>&) {});
}

}  // namespace cmsis_nn_delegate::portable
