// Where assembly finds the members of GruUnits.
#pragma once

#include "runtime/kernels/common/gate_rows_members.h"

#define GRU_UNITS_GATES 0
#define GRU_UNITS_STATE 4
#define GRU_UNITS_OUTPUT 8
#define GRU_UNITS_UNITS 12
#define GRU_UNITS_GATE_STEP 16
#define GRU_UNITS_LINES 20
#define GRU_UNITS_NEW_BITS 24
#define GRU_UNITS_ZERO_POINT 28
#define GRU_UNITS_SCALE 32

#ifndef __ASSEMBLER__

#include "runtime/kernels/common/gru_units.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(GRU_UNITS_GATES, GruUnits, gates);
CMSIS_NN_DELEGATE_MEMBER_AT(GRU_UNITS_STATE, GruUnits, state);
CMSIS_NN_DELEGATE_MEMBER_AT(GRU_UNITS_OUTPUT, GruUnits, output);
CMSIS_NN_DELEGATE_MEMBER_AT(GRU_UNITS_UNITS, GruUnits, units);
CMSIS_NN_DELEGATE_MEMBER_AT(GRU_UNITS_GATE_STEP, GruUnits, gate_step);
CMSIS_NN_DELEGATE_MEMBER_AT(GRU_UNITS_LINES, GruUnits, lines);
CMSIS_NN_DELEGATE_MEMBER_AT(GRU_UNITS_NEW_BITS, GruUnits, new_bits);
CMSIS_NN_DELEGATE_MEMBER_AT(GRU_UNITS_ZERO_POINT, GruUnits, zero_point);
CMSIS_NN_DELEGATE_MEMBER_AT(GRU_UNITS_SCALE, GruUnits, scale);

}  // namespace cmsis_nn_delegate::portable

#endif
