// Where assembly finds the members of LstmUnits.
#pragma once

#include "runtime/kernels/common/gate_rows_members.h"

#define LSTM_UNITS_GATES 0
#define LSTM_UNITS_STATE 4
#define LSTM_UNITS_OUTPUT 8
#define LSTM_UNITS_UNITS 12
#define LSTM_UNITS_GATE_STEP 16
#define LSTM_UNITS_LINES 20
#define LSTM_UNITS_CELL_BITS 24
#define LSTM_UNITS_ZERO_POINT 28
#define LSTM_UNITS_SCALE 32

#ifndef __ASSEMBLER__

#include "runtime/kernels/common/lstm_units.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(LSTM_UNITS_GATES, LstmUnits, gates);
CMSIS_NN_DELEGATE_MEMBER_AT(LSTM_UNITS_STATE, LstmUnits, state);
CMSIS_NN_DELEGATE_MEMBER_AT(LSTM_UNITS_OUTPUT, LstmUnits, output);
CMSIS_NN_DELEGATE_MEMBER_AT(LSTM_UNITS_UNITS, LstmUnits, units);
CMSIS_NN_DELEGATE_MEMBER_AT(LSTM_UNITS_GATE_STEP, LstmUnits, gate_step);
CMSIS_NN_DELEGATE_MEMBER_AT(LSTM_UNITS_LINES, LstmUnits, lines);
CMSIS_NN_DELEGATE_MEMBER_AT(LSTM_UNITS_CELL_BITS, LstmUnits, cell_bits);
CMSIS_NN_DELEGATE_MEMBER_AT(LSTM_UNITS_ZERO_POINT, LstmUnits, zero_point);
CMSIS_NN_DELEGATE_MEMBER_AT(LSTM_UNITS_SCALE, LstmUnits, scale);

}  // namespace cmsis_nn_delegate::portable

#endif
