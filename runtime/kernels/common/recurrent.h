// What the recurrent layers have in common: the sums of gates and their functions. The formulas are those of
// docs/reference/recurrent_layers.md.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/kernels/common/nibbles.h"
#include "runtime/kernels/common/recurrent_steps.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/common/sigmoid_table.h"
#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

inline std::int32_t saturate_16(std::int32_t value) {
  return value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value;
}

/// `value` limited to the range of `Element`, int8 or int16.
template <typename Element>
Element saturate_to(std::int32_t value) {
  using Limits = std::numeric_limits<Element>;
  return static_cast<Element>(value < Limits::min()   ? Limits::min()
                              : value > Limits::max() ? Limits::max()
                                                      : value);
}

/// What a layer computes in: `E` is the type of inputs, outputs and the hidden state, int8 or int16; weights have 4 bits,
/// as in nibbles.h, or 8.
template <typename E = std::int8_t, bool kNibbles = false>
struct RecurrentFormat {
  using Element = E;

  /// sum + the products of `count` values with row `row` of the weights.
  static std::int32_t add_row(std::int32_t sum, const std::int8_t* weights, std::int32_t row,
                              const E* values, std::int32_t count) {
    if constexpr (kNibbles) {
      const std::uint32_t first =
          static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(count);
      return static_cast<std::int32_t>(add_nibble_products(static_cast<std::uint32_t>(sum), weights,
                                                           first, values, /*offset=*/0, count));
    } else {
      weights += row * count;
      for (std::int32_t i = 0; i < count; ++i) {
        sum = wrapping_add(sum, values[i] * weights[i]);
      }
      return sum;
    }
  }
};

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
template <typename Args, typename Format>
class RecurrentLayer {
 public:
  using Element = typename Format::Element;

  RecurrentLayer(const Args& args, const Bases& bases)
      : args_(args),
        filter_(bases.resolve<const std::int8_t>(args.filter)),
        recurrent_(bases.resolve<const std::int8_t>(args.recurrent)),
        bias_(bases.resolve<const std::int32_t>(args.bias)),
        recurrent_bias_(bases.resolve<const std::int32_t>(args.recurrent_bias)) {}

  void look_at(const RecurrentStepOf<Element>& step) { step_ = step; }

  /// The requantized sum over the inputs of row `row`, of `gate`.
  std::int32_t input_sum(std::int32_t row, const payload::Gate& gate) const {
    const std::int32_t sum = Format::add_row(bias_[row], filter_, row, step_.input, args_.inputs);
    return saturate_16(requantize(sum, gate.input_multiplier, gate.input_shift));
  }

  /// The requantized sum over the outputs of the step before.
  std::int32_t recurrent_sum(std::int32_t row, const payload::Gate& gate) const {
    const std::int32_t width = output_width(args_);
    const std::int32_t sum =
        Format::add_row(recurrent_bias_[row], recurrent_, row, step_.before, width);
    return requantize(sum, gate.recurrent_multiplier, gate.recurrent_shift);
  }

  /// The sum of both, in 16 bits, of unit `unit` of gate number `index`.
  std::int32_t gate(std::int32_t unit, std::int32_t index, const payload::Gate& gate) const {
    const std::int32_t row = index * args_.hidden + unit;
    return saturate_16(wrapping_add(input_sum(row, gate), recurrent_sum(row, gate)));
  }

  void put(std::int32_t unit, std::int32_t value) { step_.output[unit] = output_of(value); }

  /// The output for a value without its zero point.
  Element output_of(std::int32_t value) const {
    return saturate_to<Element>(wrapping_add(value, output_offset(args_)));
  }

 private:
  const Args& args_;
  const std::int8_t* filter_;
  const std::int8_t* recurrent_;
  const std::int32_t* bias_;
  const std::int32_t* recurrent_bias_;
  RecurrentStepOf<Element> step_ = {};
};

/// Calls unit(layer, j, state) for each unit j of each step of each batch, from start(layer, batch), and finish(layer)
/// after the units of a step. Returns what for_each_step() returns.
template <typename Format, typename Args, typename Start, typename Unit, typename Finish>
Error run_recurrent_layer(const Args& args, const Bases& bases, const Start& start,
                          const Unit& unit, const Finish& finish) {
  using Element = typename Format::Element;
  RecurrentLayer<Args, Format> layer(args, bases);
  return for_each_step<Element>(
      args, bases, [&](std::int32_t batch, std::int32_t /*steps*/) { return start(layer, batch); },
      [&](const RecurrentStepOf<Element>& step) {
        layer.look_at(step);
        for (std::int32_t j = 0; j < args.hidden; ++j) {
          unit(layer, j, step.state);
        }
        finish(layer);
      });
}

/// The same for layers whose outputs are those of the units.
template <typename Format, typename Args, typename Start, typename Unit>
Error run_recurrent_layer(const Args& args, const Bases& bases, const Start& start,
                          const Unit& unit) {
  return run_recurrent_layer<Format>(args, bases, start, unit, [](const auto&) {});
}

}  // namespace cmsis_nn_delegate::portable
