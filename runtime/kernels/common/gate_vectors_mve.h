// The functions of gate_vectors.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/common/gate_rows_members.h"
#include "runtime/kernels/common/gate_vectors.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_multiply_gate_vectors(const portable::GateRows* gate);
void cmsis_nn_delegate_multiply_nibble_gate_vectors(const portable::GateRows* gate);
void cmsis_nn_delegate_multiply_gate_vectors_int16(const portable::GateRows* gate);
void cmsis_nn_delegate_multiply_nibble_gate_vectors_int16(const portable::GateRows* gate);
void cmsis_nn_delegate_copy_row(const std::int8_t* from, std::int32_t bytes, std::int8_t* to);
}

struct MveGateVectors : portable::PlainGateVectors {
  static void take(const std::int8_t* from, std::int32_t count, std::int8_t* to) {
    cmsis_nn_delegate_copy_row(from, count, to);
  }
  static void multiply(const portable::GateRows& gate) {
    cmsis_nn_delegate_multiply_gate_vectors(&gate);
  }
};

struct MveNibbleGateVectors : MveGateVectors {
  using Weights = portable::gate_vectors::Nibbles;

  static void multiply(const portable::GateRows& gate) {
    cmsis_nn_delegate_multiply_nibble_gate_vectors(&gate);
  }
};

struct MveGateVectorsInt16 : portable::PlainGateVectorsInt16 {
  static void take(const std::int16_t* from, std::int32_t count, std::int16_t* to) {
    constexpr auto kBytes = static_cast<std::int32_t>(sizeof(*to));
    cmsis_nn_delegate_copy_row(reinterpret_cast<const std::int8_t*>(from), kBytes * count,
                               reinterpret_cast<std::int8_t*>(to));
  }
  static void multiply(const portable::GateRows& gate) {
    cmsis_nn_delegate_multiply_gate_vectors_int16(&gate);
  }
};

struct MveNibbleGateVectorsInt16 : MveGateVectorsInt16 {
  using Weights = portable::gate_vectors::Nibbles;

  static void multiply(const portable::GateRows& gate) {
    cmsis_nn_delegate_multiply_nibble_gate_vectors_int16(&gate);
  }
};

}  // namespace cmsis_nn_delegate::tuned
