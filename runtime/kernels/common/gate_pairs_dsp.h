// The functions of gate_pairs.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include "runtime/kernels/common/gate_pairs.h"
#include "runtime/kernels/common/gate_rows_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_multiply_gate_pairs(const portable::GateRows* gate);
void cmsis_nn_delegate_multiply_nibble_gate_pairs(const portable::GateRows* gate);
void cmsis_nn_delegate_widen_doubled(const std::int8_t* from, std::int32_t words, std::int16_t* to);
}

struct DspGatePairsInt16 : portable::PlainGatePairsInt16 {
  static void multiply(const portable::GateRows& gate) {
    cmsis_nn_delegate_multiply_gate_pairs(&gate);
  }
};

struct DspNibbleGatePairsInt16 : portable::PlainNibbleGatePairsInt16 {
  static void multiply(const portable::GateRows& gate) {
    cmsis_nn_delegate_multiply_nibble_gate_pairs(&gate);
  }
};

struct DspGatePairs : portable::PlainGatePairs {
  static void take(const std::int8_t* from, std::int32_t count, std::int16_t* to) {
    const std::int32_t words = count / 4;
    if (words > 0) {
      cmsis_nn_delegate_widen_doubled(from, words, to);
    }
    portable::PlainGatePairs::take(from + 4 * words, count & 3, to + 4 * words);
  }
  static void multiply(const portable::GateRows& gate) {
    cmsis_nn_delegate_multiply_gate_pairs(&gate);
  }
};

struct DspNibbleGatePairs : DspGatePairs {
  using Weights = portable::RowNibbles;

  static void multiply(const portable::GateRows& gate) {
    cmsis_nn_delegate_multiply_nibble_gate_pairs(&gate);
  }
};

}  // namespace cmsis_nn_delegate::tuned
