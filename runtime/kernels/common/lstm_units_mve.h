// The function of lstm_units.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/common/lstm_units.h"
#include "runtime/kernels/common/lstm_units_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_compute_lstm_vectors(const portable::LstmUnits* units);
void cmsis_nn_delegate_compute_lstm_vectors_int16(const portable::LstmUnitsOf<std::int16_t>* units);
}

struct MveLstmUnits {
  static void compute(const portable::LstmUnits& units) {
    cmsis_nn_delegate_compute_lstm_vectors(&units);
  }
};

struct MveLstmUnitsInt16 {
  static void compute(const portable::LstmUnitsOf<std::int16_t>& units) {
    cmsis_nn_delegate_compute_lstm_vectors_int16(&units);
  }
};

}  // namespace cmsis_nn_delegate::tuned
