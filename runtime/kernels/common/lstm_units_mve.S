// The function of runtime/kernels/common/lstm_units.h for MVE: four units at a time.
//
// Products of two numbers with 15 bits after the point are requantized by 1/2 and a power of two: both are shifts that
// round, with the sign added between them.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/gate_lines_mve.h"
#include "runtime/kernels/common/lstm_units_members.h"

  .syntax unified
  .thumb

// q becomes half of it, with halves up, and moves away from zero by half of a step of the next shift.
.macro HALF q, temporary
  vrshr.s32 \q, \q, #1
  vshr.s32 \temporary, \q, #31
  vadd.i32 \q, \q, \temporary
.endm

// Stores four outputs that are limited to 16 bits: as int8, or as they are.
.macro STORE
  vqmovnb.s16 q0, q0
  vstrb.32 q0, [r2], #4
.endm
.macro STORE_INT16
  vstrh.32 q0, [r2], #8
.endm

.macro COMPUTE_UNITS name, store
  FUNCTION \name
  push {r4-r11, lr}
  NEIGHBOURS LSTM_UNITS_GATES, LSTM_UNITS_STATE, LSTM_UNITS_OUTPUT, LSTM_UNITS_UNITS
  ldrd r3, r1, [r0, #LSTM_UNITS_GATES]
  ldrd r2, lr, [r0, #LSTM_UNITS_OUTPUT]
  NEIGHBOURS LSTM_UNITS_GATE_STEP, LSTM_UNITS_LINES
  ldrd r4, r5, [r0, #LSTM_UNITS_GATE_STEP]
  ldr r10, [r0, #LSTM_UNITS_CELL_BITS]
  lsls r4, r4, #1
  add r6, r5, #GATE_LINES_STARTS * 2
  movs r7, #3
  mov r8, #GATE_LINES_STARTS / 4
  mov r12, #0x01000100
  rsb r11, r10, #12
  sub r10, r10, #29
  mov r9, r0
  dlstp.32 lr, lr
1:  // four units
  // f * c
  add r0, r3, r4
  vldrh.s32 q0, [r0]
  vldrh.s32 q1, [r1]
  vmul.i32 q0, q0, q1
  HALF q0, q1
  vrshr.s32 q0, q0, #14
  // i * g
  add r0, r0, r4
  vldrh.s32 q1, [r3], #8
  vldrh.s32 q2, [r0]
  vmul.i32 q1, q1, q2
  HALF q1, q2
  vrshl.s32 q1, r10
  vadd.i32 q0, q0, q1
  SATURATE q0
  vstrh.32 q0, [r1], #8
  // tanh(c)
  vmul.i32 q0, q0, r7
  vrshl.s32 q0, r11
  TANH r5, r6, r8, r12
  // o * tanh(c)
  add r0, r0, r4
  vldrh.s32 q1, [r0]
  vmul.i32 q0, q0, q1
  ldr r0, [r9, #LSTM_UNITS_SCALE]
  vshl.s32 q0, r0
  ldr r0, [r9, #LSTM_UNITS_SCALE + 4]
  vqrdmulh.s32 q0, q0, r0
  ldr r0, [r9, #LSTM_UNITS_SCALE + 8]
  vshr.s32 q1, q0, #31
  vmla.s32 q0, q1, r0
  ldr r0, [r9, #LSTM_UNITS_SCALE + 12]
  vrshl.s32 q0, r0
  ldr r0, [r9, #LSTM_UNITS_ZERO_POINT]
  vadd.i32 q0, q0, r0
  vqmovnb.s32 q0, q0
  \store
  letp lr, 1b
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

// void cmsis_nn_delegate_compute_lstm_vectors(
//     const LstmUnits* units)   r0
//
// Register usage
//   Units     r9
//   Cells     r1
//   Output    r2
//   Gates     r3 i, r0 the others; r4 bytes from a gate to the next one
//   Lines     r5, and their steps r6; r7 3, r8 256, r12 0x01000100
//   Added     r10 the shift of i * g
//   Argument  r11 the shift of the cell
//   Scale     r0, word by word
//   lr        units left
//
// Cost: 50 instructions for four units, of which 41 are vector instructions.
//
// Bounds: the loop predicates the lanes after `units` units, at least 1, so that they are neither read nor written, of
// gates, cells, lines and output. The table of lines has 512 entries, within which the argument is limited. ReadsPast is
// 0.
  COMPUTE_UNITS cmsis_nn_delegate_compute_lstm_vectors, STORE

// void cmsis_nn_delegate_compute_lstm_vectors_int16(
//     const LstmUnitsOf<std::int16_t>* units)   r0
//
// The same with outputs of int16, of which it writes 2 bytes a unit, in an instruction less for four of them.
  COMPUTE_UNITS cmsis_nn_delegate_compute_lstm_vectors_int16, STORE_INT16

#endif
