// The rows of gates by pairs of inputs, in plain C++. Assembly for an instruction set has the same functions
// (gate_pairs_dsp.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/gate_rows.h"
#include "runtime/kernels/common/recurrent.h"
#include "runtime/kernels/common/row_products.h"

namespace cmsis_nn_delegate::portable {

/// The table has for each 8 rows of a gate: twice the int32 sums for inputs of 0; the weights of each 2 inputs, as `W`,
/// RowBytes or RowNibbles, has them; the same of the hidden state. Numbers of a unit lie side by side.
///
/// Sums are twice as large as those of the formulas, and inputs therefore: a product with the Q31 multiplier then has the
/// result in its high word. `O` is the type of inputs and outputs. Those of int16 are read as they are, neighbours in a
/// pair, which is what their table is made for, and their sums are doubled once they are complete.
template <typename O, typename W = RowBytes>
struct PlainGatePairsOf {
  using Output = O;
  using Weights = W;
  using Element = std::int16_t;
  static constexpr std::int32_t kRows = 8;
  static constexpr std::int32_t kDepth = 8;
  static constexpr bool kInterleaved = true;
  static constexpr std::int32_t kUnit = 4;  // numbers

  /// (left, multiplier, half of a step of the result, right): the amounts of shifts are at least 0, and one of them is.
  /// Where sums are not doubled, left is one more, and right negative.
  static GateScale scale(std::int32_t multiplier, std::int32_t shift) {
    const std::int32_t left = shift > 0 ? shift : 0;
    const std::int32_t right = shift < 0 ? -shift : 0;
    const std::int32_t half = right > 0 ? std::int32_t{1} << (right - 1) : 0;
    if constexpr (kDoublesSums) {
      return {{left + 1, multiplier, half, -right}};
    } else {
      return {{left, multiplier, half, right}};
    }
  }

  /// The same for outputs: their zero point is added before the shift.
  static GateScale output_scale(std::int32_t multiplier, std::int32_t shift,
                                std::int32_t zero_point) {
    GateScale found = scale(multiplier, shift);
    found.words[2] = wrapping_add(found.words[2], wrapping_shift_left(zero_point, found.words[3]));
    return found;
  }

  /// requantize() of sums that the compiler has proved to fit, from twice the sum, or from the sum as scale() says.
  static std::int32_t requantize_double(std::int32_t sum, const GateScale& scale) {
    const std::int32_t shifted = wrapping_shift_left(sum, scale.words[0]);
    const std::int64_t product = static_cast<std::int64_t>(shifted) * scale.words[1];
    const auto high = static_cast<std::int32_t>((product + (std::int64_t{1} << 31)) >> 32);
    if (scale.words[3] == 0) {
      return high;
    }
    const std::int32_t moved = wrapping_add(wrapping_add(high, scale.words[2]), sum >> 31);
    return moved >> ((scale.words[3] < 0 ? -scale.words[3] : scale.words[3]) & 31);
  }

  /// requantize() and the zero point of `scale`, an output_scale().
  static Output to_output(std::int32_t value, const GateScale& scale, std::int32_t /*zero_point*/) {
    const std::int32_t doubled = kDoublesSums ? value : wrapping_add(value, value);
    return saturate_to<Output>(requantize_double(doubled, scale));
  }

  /// Widens and doubles `count` numbers: of each four, 0 2 1 3, as far as there are that many. Copies those of int16.
  static void take(const Output* from, std::int32_t count, std::int16_t* to) {
    if constexpr (kDoublesSums) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(*to));
    } else {
      for (std::int32_t i = 0; i < count; ++i) {
        to[at(i)] = static_cast<std::int16_t>(2 * from[i]);
      }
    }
  }

  static void multiply(const GateRows& gate) {
    const std::int32_t* table = gate.table;
    std::int16_t* output = gate.output;
    for (std::int32_t block = 0; block < gate.blocks; ++block) {
      std::uint32_t sums[2][kRows];
      table = add(sums[0], gate.inputs, gate.inputs_end, table);
      table = add(sums[1], gate.hidden, gate.hidden_end, table);
      for (std::int32_t row = 0; row < kRows; ++row, output += kUnit) {
        const std::int32_t first = saturate_16(requantized(sums[0][row], gate.scales[0]));
        const std::int32_t second = requantized(sums[1][row], gate.scales[1]);
        if (gate.function == GateFunction::kApart) {
          output[0] = static_cast<std::int16_t>(first);
          output[1] = static_cast<std::int16_t>(saturate_16(second));
        } else {
          const std::int32_t sum = saturate_16(wrapping_add(first, second));
          output[0] = static_cast<std::int16_t>(
              gate.function == GateFunction::kTanh ? tanh_by_line(sum) : sigmoid_by_line(sum));
        }
      }
    }
  }

 private:
  static constexpr bool kDoublesSums = sizeof(Output) > 1;

  /// Where number `i` of a row lies once it is widened.
  static std::int32_t at(std::int32_t i) { return (i & ~3) | (i & 1) << 1 | (i & 2) >> 1; }

  static std::int32_t requantized(std::uint32_t sum, const GateScale& scale) {
    return requantize_double(static_cast<std::int32_t>(sum), scale);
  }

  static const std::int32_t* add(std::uint32_t (&sums)[kRows], const void* begin, const void* end,
                                 const std::int32_t* table) {
    for (std::uint32_t& sum : sums) {
      sum = static_cast<std::uint32_t>(*table++);
    }
    const auto* input = static_cast<const std::int16_t*>(begin);
    for (; input != end; input += 2) {
      table = Weights::add(sums, input[0], input[1], table);
    }
    return table;
  }
};

using PlainGatePairs = PlainGatePairsOf<std::int8_t>;
using PlainNibbleGatePairs = PlainGatePairsOf<std::int8_t, RowNibbles>;
using PlainGatePairsInt16 = PlainGatePairsOf<std::int16_t>;
using PlainNibbleGatePairsInt16 = PlainGatePairsOf<std::int16_t, RowNibbles>;

}  // namespace cmsis_nn_delegate::portable
