// The function of lstm_units.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/common/lstm_units.h"
#include "runtime/kernels/common/lstm_units_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_compute_lstm_vectors(const portable::LstmUnits* units);
}

struct MveLstmUnits {
  static void compute(const portable::LstmUnits& units) {
    cmsis_nn_delegate_compute_lstm_vectors(&units);
  }
};

}  // namespace cmsis_nn_delegate::tuned
