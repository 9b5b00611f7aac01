// The function of gru_units.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/common/gru_units.h"
#include "runtime/kernels/common/gru_units_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_compute_gru_vectors(const portable::GruUnits* units);
void cmsis_nn_delegate_compute_gru_vectors_int16(const portable::GruUnitsOf<std::int16_t>* units);
}

struct MveGruUnits {
  static void compute(const portable::GruUnits& units) {
    cmsis_nn_delegate_compute_gru_vectors(&units);
  }
};

struct MveGruUnitsInt16 {
  static void compute(const portable::GruUnitsOf<std::int16_t>& units) {
    cmsis_nn_delegate_compute_gru_vectors_int16(&units);
  }
};

}  // namespace cmsis_nn_delegate::tuned
