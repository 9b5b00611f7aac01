// The function of lstm_units.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include "runtime/kernels/common/lstm_units.h"
#include "runtime/kernels/common/lstm_units_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_compute_lstm_pairs(const portable::LstmUnits* units);
}

struct DspLstmUnits {
  static void compute(const portable::LstmUnits& units) {
    cmsis_nn_delegate_compute_lstm_pairs(&units);
  }
};

}  // namespace cmsis_nn_delegate::tuned
