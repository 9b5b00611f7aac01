// What a GRU makes of its gates, and the layer with it, in plain C++. Assembly for an instruction set has the same
// function (gru_units_dsp.h and so on).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/gate_rows.h"
#include "runtime/kernels/common/recurrent.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// All units of a step. A unit has the gates r and z, after their functions, and both sums of the gate n.
/// `Output` is the type of the outputs.
template <typename Output>
struct GruUnitsOf {
  const std::int16_t* gates;
  std::int16_t* state;
  Output* output;
  std::int32_t units;      // >= 1
  std::int32_t gate_step;  // from a gate of a unit to the next gate
  const GateLines* lines;
  std::int32_t new_bits;  // of the second sum of n after the point, in [0, 12]
  std::int32_t zero_point;
  GateScale scale;  // of the outputs
};

using GruUnits = GruUnitsOf<std::int8_t>;

/// The function in plain C++, for gates in the order of `Gates`, such as PlainGatePairs.
template <typename Gates>
struct PlainGruUnits {
  static void compute(const GruUnitsOf<typename Gates::Output>& p) {
    for (std::int32_t j = 0; j < p.units; ++j) {
      const std::int16_t* gates = p.gates + j * (Gates::kInterleaved ? Gates::kUnit : 1);
      const auto gate = [&](std::int32_t index) { return gates[index * p.gate_step]; };
      const std::int32_t added = half_up(gate(0) * gate(3), 3 + p.new_bits);
      const std::int32_t fresh = tanh_by_line(saturate_16(gate(2) + added));
      const std::int32_t next = fresh + half_up(gate(1) * (p.state[j] - fresh), 15);
      p.state[j] = static_cast<std::int16_t>(next);
      p.output[j] = Gates::to_output(next, p.scale, p.zero_point);
    }
  }
};

/// Computes one call: the body of a kernel's function.
template <typename Gates, typename Units, typename Args>
[[gnu::always_inline]] inline Error compute_gru_rows(const Args& a, const Bases& bases) {
  GatesOfStep<Gates, Args, 3> gates(a, bases,
                                    {{a.reset_gate, GateFunction::kSigmoid},
                                     {a.update_gate, GateFunction::kSigmoid},
                                     {a.new_gate, GateFunction::kApart}});
  GruUnitsOf<typename Gates::Output> units = {
      gates.gates(),
      nullptr,
      nullptr,
      a.hidden,
      gates.gate_step(),
      &kGateLines,
      a.new_bits,
      output_offset(a),
      Gates::output_scale(a.output_multiplier, a.output_shift, output_offset(a))};
  using Output = typename Gates::Output;
  const RecurrentSteps<Args, Output> steps(a, bases);
  const auto start = [&](std::int32_t batch, std::int32_t count) {
    std::int16_t* state = initial_state(a, bases, a.initial_state, a.last_state, batch);
    // Where the first step writes its output, once its gates have read this.
    Output* before = steps.at(batch, 0, count, {}).output;
    for (std::int32_t j = 0; j < a.hidden; ++j) {
      before[j] = Gates::to_output(state[j], units.scale, output_offset(a));
    }
    return RecurrentStartOf<Output>{state, before};
  };
  return compute_gate_rows<Units>(a, bases, gates, units, start);
}

}  // namespace cmsis_nn_delegate::portable
