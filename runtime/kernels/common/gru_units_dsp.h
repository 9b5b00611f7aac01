// The function of gru_units.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include "runtime/kernels/common/gru_units.h"
#include "runtime/kernels/common/gru_units_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_compute_gru_pairs(const portable::GruUnits* units);
}

struct DspGruUnits {
  static void compute(const portable::GruUnits& units) {
    cmsis_nn_delegate_compute_gru_pairs(&units);
  }
};

}  // namespace cmsis_nn_delegate::tuned
