// What an LSTM makes of its gates, and the layer with it, in plain C++. Assembly for an instruction set has the same
// function (lstm_units_dsp.h and so on).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/gate_rows.h"
#include "runtime/kernels/common/lstm_product.h"
#include "runtime/kernels/common/recurrent.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// All units of a step. A unit has the gates i, f, g and o, after their functions.
/// `Output` is the type of the outputs.
template <typename Output>
struct LstmUnitsOf {
  const std::int16_t* gates;
  std::int16_t* state;  // the cells
  Output* output;
  std::int32_t units;      // >= 1
  std::int32_t gate_step;  // from a gate of a unit to the next gate
  const GateLines* lines;
  std::int32_t cell_bits;  // after the point, in [0, 15]
  std::int32_t zero_point;
  GateScale scale;  // of the outputs
};

using LstmUnits = LstmUnitsOf<std::int8_t>;

/// The function in plain C++, for gates in the order of `Gates`, such as PlainGatePairs.
template <typename Gates>
struct PlainLstmUnits {
  static void compute(const LstmUnitsOf<typename Gates::Output>& p) {
    constexpr std::int32_t kHalf = std::int32_t{1} << 30;  // in Q31
    for (std::int32_t j = 0; j < p.units; ++j) {
      const std::int16_t* gates = p.gates + j * (Gates::kInterleaved ? Gates::kUnit : 1);
      const auto gate = [&](std::int32_t index) { return gates[index * p.gate_step]; };
      const std::int32_t kept = requantize(gate(1) * p.state[j], kHalf, -14);
      const std::int32_t added = requantize(gate(0) * gate(2), kHalf, p.cell_bits - 29);
      const std::int32_t cell = saturate_16(kept + added);
      p.state[j] = static_cast<std::int16_t>(cell);
      p.output[j] =
          Gates::to_output(gate(3) * tanh_by_line(cell, p.cell_bits), p.scale, p.zero_point);
    }
  }
};

/// The gates of an LSTM.
template <typename Gates, typename Args>
[[gnu::always_inline]] inline GatesOfStep<Gates, Args, 4> lstm_gates(const Args& a,
                                                                     const Bases& bases) {
  return GatesOfStep<Gates, Args, 4>(a, bases,
                                     {{a.input_gate, GateFunction::kSigmoid},
                                      {a.forget_gate, GateFunction::kSigmoid},
                                      {a.cell_gate, GateFunction::kTanh},
                                      {a.output_gate, GateFunction::kSigmoid}});
}

/// Computes one call: the body of a kernel's function.
template <typename Gates, typename Units, typename Args>
[[gnu::always_inline]] inline Error compute_lstm_rows(const Args& a, const Bases& bases) {
  GatesOfStep<Gates, Args, 4> gates = lstm_gates<Gates>(a, bases);
  LstmUnitsOf<typename Gates::Output> units = {
      gates.gates(),
      nullptr,
      nullptr,
      a.hidden,
      gates.gate_step(),
      &kGateLines,
      a.cell_bits,
      output_offset(a),
      Gates::output_scale(a.output_multiplier, a.output_shift, output_offset(a))};
  const auto start = [&](std::int32_t batch, std::int32_t /*steps*/) {
    return lstm_start<typename Gates::Output>(a, bases, batch);
  };
  return compute_gate_rows<Units>(a, bases, gates, units, start);
}

}  // namespace cmsis_nn_delegate::portable
