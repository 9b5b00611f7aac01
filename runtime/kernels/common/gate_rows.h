// The gates of a step of a recurrent layer, several rows at a time: what kernels with a table of weights in the order of
// the products have in common, whatever the layer and the order. The formulas are those of
// docs/reference/recurrent_layers.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/common/gate_lines.h"
#include "runtime/kernels/common/recurrent_steps.h"
#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"
#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::portable {

/// What is done with the sums of a gate.
enum class GateFunction : std::int32_t {
  kApart = 0,  // both are stored, in 16 bits
  kSigmoid = 1,
  kTanh = 2,
};

/// How a sum is requantized, in the words that the inner loops take: see `scale` of PlainGatePairs and so on.
struct GateScale {
  std::int32_t words[4];
};

/// The rows of a gate.
struct GateRows {
  const void* inputs;  // in the order of the products
  const void* inputs_end;
  const void* hidden;  // the outputs of the step before, likewise
  const void* hidden_end;
  const std::int32_t* table;
  std::int16_t*
      output;  // of the first unit of the gate; with kApart, the sums over the outputs follow it as a gate
  std::int32_t blocks;  // >= 1
  GateFunction function;
  const GateLines* lines;
  std::int32_t gate_step;  // from a gate of a unit to the next gate
  GateScale scales[2];     // of both sums
};

/// The gates of steps. `Loops` has the functions and constants of PlainGatePairs.
template <typename Loops, typename Args, std::int32_t kGates>
class GatesOfStep {
 public:
  using Output = typename Loops::Output;

  struct Gate {
    const payload::Gate& scale;
    GateFunction function;
  };

  GatesOfStep(const Args& args, const Bases& bases, const Gate (&gates)[kGates]) : args_(args) {
    const std::int32_t units = round_up(args.hidden, Loops::kRows);
    const std::int32_t inputs = round_up(args.inputs, Loops::kDepth);
    const std::int32_t hidden = round_up(output_width(args), Loops::kDepth);
    gates_ = bases.resolve<std::int16_t>(args.scratch);
    gate_step_ = Loops::kInterleaved ? 1 : units;
    inputs_ = reinterpret_cast<Element*>(gates_ + kNumbers * units);
    hidden_ = inputs_ + inputs;
    // What follows the last input is multiplied with weights of 0.
    for (std::int32_t i = 0; i < inputs + hidden; ++i) {
      inputs_[i] = 0;
    }
    const std::int32_t blocks = units / Loops::kRows;
    for (std::int32_t i = 0; i < kGates; ++i) {
      const payload::Gate& scale = gates[i].scale;
      rows_[i] = {inputs_,
                  inputs_ + inputs,
                  hidden_,
                  hidden_ + hidden,
                  bases.resolve<const std::int32_t>(args.table) + i * blocks * args.block_words,
                  gates_ + i * gate_step_,
                  blocks,
                  gates[i].function,
                  &kGateLines,
                  gate_step_,
                  {Loops::scale(scale.input_multiplier, scale.input_shift),
                   Loops::scale(scale.recurrent_multiplier, scale.recurrent_shift)}};
    }
  }

  /// Of a step with these inputs, after one with the outputs `before`.
  void compute(const Output* input, const Output* before) {
    Loops::take(input, args_.inputs, inputs_);
    Loops::take(before, output_width(args_), hidden_);
    for (const GateRows& rows : rows_) {
      Loops::multiply(rows);
    }
  }

  /// Those of unit 0.
  const std::int16_t* gates() const { return gates_; }
  /// From a gate of a unit to the next gate.
  std::int32_t gate_step() const { return gate_step_; }

 private:
  using Element = typename Loops::Element;
  static constexpr std::int32_t kNumbers = 4;  // of a unit

  static std::int32_t round_up(std::int32_t size, std::int32_t to) {
    return (size + to - 1) / to * to;
  }

  const Args& args_;
  std::int16_t* gates_;
  std::int32_t gate_step_;
  Element* inputs_;
  Element* hidden_;
  GateRows rows_[kGates];
};

/// The scratch memory of GatesOfStep: RecurrentRows.scratch_bytes in Python.
template <typename Loops, typename Args>
std::uint32_t gate_rows_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  const auto up = [](std::int32_t size, std::uint32_t to) {
    return (static_cast<std::uint32_t>(size) + to - 1) / to * to;
  };
  constexpr auto kDepth = static_cast<std::uint32_t>(Loops::kDepth);
  constexpr auto kBytes = static_cast<std::uint32_t>(sizeof(typename Loops::Element));
  return 8 * up(a.hidden, static_cast<std::uint32_t>(Loops::kRows)) +
         kBytes * (up(a.inputs, kDepth) + up(output_width(a), kDepth));
}

/// Returns whether the table has as many words as the sizes ask for, and each sequence a length of 4 or 8 bytes.
template <typename Loops, typename Args, std::int32_t kGates>
bool gate_rows_accept(const void* args) {
  const auto& a = *static_cast<const Args*>(args);
  const auto groups = [](std::int32_t size, std::int32_t of) {
    return (static_cast<std::int64_t>(size) + of - 1) / of;
  };
  const std::int64_t depth =
      (groups(a.inputs, Loops::kDepth) + groups(output_width(a), Loops::kDepth)) * Loops::kDepth;
  if constexpr (kHasLengths<Args>) {
    const std::int64_t words = std::int64_t{4} * a.batch;
    if (a.length_bytes != words && a.length_bytes != 2 * words) {
      return false;
    }
  }
  return a.blocks == kGates * groups(a.hidden, Loops::kRows) &&
         a.block_words == 2 * Loops::kRows + depth * Loops::kRows / (4 * Loops::Weights::kPerByte);
}

/// Computes all steps of a call, from start(batch, its steps): the gates, and what `Units` makes of
/// them, which has its operands in `units`.
template <typename Units, typename Gates, typename Args, typename Operands, typename Start>
[[gnu::always_inline]] inline Error compute_gate_rows(const Args& args, const Bases& bases,
                                                      Gates& gates, Operands& units,
                                                      const Start& start) {
  using Output = typename Gates::Output;
  return for_each_step<Output>(args, bases, start, [&](const RecurrentStepOf<Output>& step) {
    gates.compute(step.input, step.before);
    units.state = step.state;
    units.output = step.output;
    Units::compute(units);
  });
}

/// Returns the kernel of `op` for layers of `kGates` gates.
template <typename Loops, typename Args, std::int32_t kGates>
constexpr Kernel gate_rows_kernel(const Operator& op, Kernel::Run run) {
  return Kernel(op, run, gate_rows_scratch_bytes<Loops, Args>)
      .limited_to(gate_rows_accept<Loops, Args, kGates>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
