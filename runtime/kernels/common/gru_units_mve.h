// The function of gru_units.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/common/gru_units.h"
#include "runtime/kernels/common/gru_units_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_compute_gru_vectors(const portable::GruUnits* units);
}

struct MveGruUnits {
  static void compute(const portable::GruUnits& units) {
    cmsis_nn_delegate_compute_gru_vectors(&units);
  }
};

}  // namespace cmsis_nn_delegate::tuned
