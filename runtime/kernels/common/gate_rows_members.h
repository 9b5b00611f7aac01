// Where assembly finds the members of GateRows.
#pragma once

#include "runtime/kernels/tuned/assembly.h"

#define GATE_ROWS_INPUTS 0
#define GATE_ROWS_INPUTS_END 4
#define GATE_ROWS_HIDDEN 8
#define GATE_ROWS_HIDDEN_END 12
#define GATE_ROWS_TABLE 16
#define GATE_ROWS_OUTPUT 20
#define GATE_ROWS_BLOCKS 24
#define GATE_ROWS_FUNCTION 28
#define GATE_ROWS_LINES 32
#define GATE_ROWS_GATE_STEP 36
#define GATE_ROWS_SCALES 40

#define GATE_SCALE_BYTES 16

// Of the function.
#define GATE_APART 0
#define GATE_SIGMOID 1

// In GateLines: line 0 of each table.
#define GATE_LINES_STARTS 1024
#define GATE_LINES_STEPS 2560

#ifndef __ASSEMBLER__

#include "runtime/kernels/common/gate_rows.h"

namespace cmsis_nn_delegate::portable {

CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_INPUTS, GateRows, inputs);
CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_INPUTS_END, GateRows, inputs_end);
CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_HIDDEN, GateRows, hidden);
CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_HIDDEN_END, GateRows, hidden_end);
CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_TABLE, GateRows, table);
CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_OUTPUT, GateRows, output);
CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_BLOCKS, GateRows, blocks);
CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_FUNCTION, GateRows, function);
CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_LINES, GateRows, lines);
CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_GATE_STEP, GateRows, gate_step);
CMSIS_NN_DELEGATE_MEMBER_AT(GATE_ROWS_SCALES, GateRows, scales);
static_assert(sizeof(GateScale) == GATE_SCALE_BYTES, "assembly has another size");
static_assert(static_cast<int>(GateFunction::kApart) == GATE_APART &&
                  static_cast<int>(GateFunction::kSigmoid) == GATE_SIGMOID,
              "assembly has other numbers");
static_assert(GateLines::kZero * 4 == GATE_LINES_STARTS &&
                  offsetof(GateLines, steps) + GateLines::kZero * 2 == GATE_LINES_STEPS &&
                  GateLines::kBits == 9 && GateLines::kTanh == 0x01000100,
              "assembly has these in its instructions");

}  // namespace cmsis_nn_delegate::portable

#endif
