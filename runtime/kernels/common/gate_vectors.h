// The rows of gates by vectors of inputs, in plain C++. Assembly for an instruction set has the same functions
// (gate_vectors_mve.h).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/gate_rows.h"
#include "runtime/kernels/common/recurrent.h"

namespace cmsis_nn_delegate::portable {

namespace gate_vectors {

inline constexpr std::int32_t kRows = 4;
inline constexpr std::int32_t kDepth = 16;

/// 16 weights of each row. add() adds their products with 16 inputs, and returns the end of the weights; separate() makes
/// the sums of the rows of what has been added to those for inputs of 0.
struct Bytes {
  static constexpr std::int32_t kPerByte = 1;

  template <typename Element>
  static const std::int8_t* add(std::uint32_t (&sums)[kRows], const Element* input,
                                const std::int8_t* weights) {
    for (std::uint32_t& sum : sums) {
      for (std::int32_t i = 0; i < kDepth; ++i) {
        sum += static_cast<std::uint32_t>(input[i] * *weights++);
      }
    }
    return weights;
  }
  static void separate(std::uint32_t (& /*sums*/)[kRows]) {}
};

/// The same in 4 bits: a byte is the weight of a row and 16 times that of the next one, and so are the sums for inputs of
/// 0 of the first of two rows.
struct Nibbles {
  static constexpr std::int32_t kPerByte = 2;

  template <typename Element>
  static const std::int8_t* add(std::uint32_t (&sums)[kRows], const Element* input,
                                const std::int8_t* weights) {
    for (std::int32_t row = 0; row < kRows; row += 2) {
      for (std::int32_t i = 0; i < kDepth; ++i) {
        const std::int32_t both = *weights++;
        sums[row] += static_cast<std::uint32_t>(input[i] * both);
        sums[row + 1] += static_cast<std::uint32_t>(input[i] * ((both + 8) >> 4));
      }
    }
    return weights;
  }
  static void separate(std::uint32_t (&sums)[kRows]) {
    for (std::int32_t row = 0; row < kRows; row += 2) {
      sums[row] -= 16 * sums[row + 1];
    }
  }
};

}  // namespace gate_vectors

/// The table has for each 4 rows of a gate: the int32 sums for inputs of 0; for each 16 inputs, the weights of all rows,
/// as `W` has them; the same of the hidden state. Numbers of a gate lie side by side.
template <typename O, typename W = gate_vectors::Bytes>
struct PlainGateVectorsOf {
  using Output = O;  // of inputs and outputs
  using Element = O;
  using Weights = W;
  static constexpr std::int32_t kRows = gate_vectors::kRows;
  static constexpr std::int32_t kDepth = gate_vectors::kDepth;
  static constexpr bool kInterleaved = false;
  static constexpr std::int32_t kUnit = 1;  // from a number to that of the next unit

  /// (left, multiplier, 1 if halves go away from zero, right): right is not above 0.
  static GateScale scale(std::int32_t multiplier, std::int32_t shift) {
    const std::int32_t left = shift > 0 ? shift : 0;
    const std::int32_t right = shift < 0 ? shift : 0;
    return {{left, multiplier, right < 0 ? 1 : 0, right}};
  }

  static GateScale output_scale(std::int32_t multiplier, std::int32_t shift,
                                std::int32_t /*zero_point*/) {
    return scale(multiplier, shift);
  }

  static Output to_output(std::int32_t value, const GateScale& scale, std::int32_t zero_point) {
    return saturate_to<Output>(wrapping_add(requantized(value, scale), zero_point));
  }

  static void take(const Output* from, std::int32_t count, Element* to) {
    for (std::int32_t i = 0; i < count; ++i) {
      to[i] = from[i];
    }
  }

  static void multiply(const GateRows& gate) {
    const std::int32_t* table = gate.table;
    std::int16_t* output = gate.output;
    for (std::int32_t block = 0; block < gate.blocks; ++block) {
      std::uint32_t sums[2][kRows];
      table = add(sums[0], gate.inputs, gate.inputs_end, table);
      table = add(sums[1], gate.hidden, gate.hidden_end, table);
      for (std::int32_t row = 0; row < kRows; ++row, ++output) {
        const std::int32_t first =
            saturate_16(requantized(static_cast<std::int32_t>(sums[0][row]), gate.scales[0]));
        const std::int32_t second =
            requantized(static_cast<std::int32_t>(sums[1][row]), gate.scales[1]);
        if (gate.function == GateFunction::kApart) {
          output[0] = static_cast<std::int16_t>(first);
          output[gate.gate_step] = static_cast<std::int16_t>(saturate_16(second));
        } else {
          const std::int32_t sum = saturate_16(wrapping_add(first, second));
          output[0] = static_cast<std::int16_t>(
              gate.function == GateFunction::kTanh ? tanh_by_line(sum) : sigmoid_by_line(sum));
        }
      }
    }
  }

 private:
  static std::int32_t requantized(std::int32_t sum, const GateScale& scale) {
    return requantize(sum, scale.words[1], scale.words[0] + scale.words[3]);
  }

  static const std::int32_t* add(std::uint32_t (&sums)[kRows], const void* begin, const void* end,
                                 const std::int32_t* table) {
    for (std::uint32_t& sum : sums) {
      sum = static_cast<std::uint32_t>(*table++);
    }
    const auto* weights = reinterpret_cast<const std::int8_t*>(table);
    const auto* input = static_cast<const Element*>(begin);
    for (; input != end; input += kDepth) {
      weights = Weights::add(sums, input, weights);
    }
    Weights::separate(sums);
    return reinterpret_cast<const std::int32_t*>(weights);
  }
};

using PlainGateVectors = PlainGateVectorsOf<std::int8_t>;
using PlainNibbleGateVectors = PlainGateVectorsOf<std::int8_t, gate_vectors::Nibbles>;
using PlainGateVectorsInt16 = PlainGateVectorsOf<std::int16_t>;
using PlainNibbleGateVectorsInt16 = PlainGateVectorsOf<std::int16_t, gate_vectors::Nibbles>;

}  // namespace cmsis_nn_delegate::portable
