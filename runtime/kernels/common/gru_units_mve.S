// The function of runtime/kernels/common/gru_units.h for MVE: four units at a time.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/gate_lines_mve.h"
#include "runtime/kernels/common/gru_units_members.h"

  .syntax unified
  .thumb

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
  NEIGHBOURS GRU_UNITS_GATES, GRU_UNITS_STATE, GRU_UNITS_OUTPUT, GRU_UNITS_UNITS
  ldrd r3, r1, [r0, #GRU_UNITS_GATES]
  ldrd r2, lr, [r0, #GRU_UNITS_OUTPUT]
  NEIGHBOURS GRU_UNITS_GATE_STEP, GRU_UNITS_LINES, GRU_UNITS_NEW_BITS, GRU_UNITS_ZERO_POINT
  ldrd r4, r5, [r0, #GRU_UNITS_GATE_STEP]
  ldrd r10, r11, [r0, #GRU_UNITS_NEW_BITS]
  lsls r4, r4, #1
  add r6, r5, #GATE_LINES_STARTS * 2
  movs r7, #3
  mov r8, #GATE_LINES_STARTS / 4
  mov r12, #0x01000100
  mvn r10, r10
  sub r10, r10, #2
  mov r9, r0
  dlstp.32 lr, lr
1:  // four units
  // n
  add r0, r3, r4, lsl #1
  vldrh.s32 q2, [r0]
  add r0, r0, r4
  vldrh.s32 q0, [r3]
  vldrh.s32 q1, [r0]
  vmul.i32 q0, q0, q1
  vrshl.s32 q0, r10
  vadd.i32 q0, q0, q2
  SATURATE q0
  vmul.i32 q0, q0, r7
  TANH r5, r6, r8, r12
  // s
  add r0, r3, r4
  vldrh.s32 q1, [r1]
  vldrh.s32 q2, [r0]
  vsub.i32 q1, q1, q0
  vmul.i32 q1, q1, q2
  vrshr.s32 q1, q1, #15
  vadd.i32 q0, q0, q1
  adds r3, r3, #8
  vstrh.32 q0, [r1], #8
  // h
  ldr r0, [r9, #GRU_UNITS_SCALE]
  vshl.s32 q0, r0
  ldr r0, [r9, #GRU_UNITS_SCALE + 4]
  vqrdmulh.s32 q0, q0, r0
  ldr r0, [r9, #GRU_UNITS_SCALE + 8]
  vshr.s32 q1, q0, #31
  vmla.s32 q0, q1, r0
  ldr r0, [r9, #GRU_UNITS_SCALE + 12]
  vrshl.s32 q0, r0
  vadd.i32 q0, q0, r11
  vqmovnb.s32 q0, q0
  \store
  letp lr, 1b
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

// void cmsis_nn_delegate_compute_gru_vectors(
//     const GruUnits* units)   r0
//
// Register usage
//   Units     r9
//   State     r1
//   Output    r2
//   Gates     r3 r, r0 the others; r4 bytes from a gate to the next one
//   Lines     r5, and their steps r6; r7 3, r8 256, r12 0x01000100
//   Added     r10 the shift of r * sum
//   Scale     r0, word by word; r11 the zero point
//   lr        units left
//
// Cost: 44 instructions for four units, of which 35 are vector instructions.
//
// Bounds: the loop predicates the lanes after `units` units, at least 1, so that they are neither read nor written, of
// gates, state, lines and output. The table of lines has 512 entries, within which the argument is limited. ReadsPast is
// 0.
  COMPUTE_UNITS cmsis_nn_delegate_compute_gru_vectors, STORE

// void cmsis_nn_delegate_compute_gru_vectors_int16(
//     const GruUnitsOf<std::int16_t>* units)   r0
//
// The same with outputs of int16, of which it writes 2 bytes a unit, in an instruction less for four of them.
  COMPUTE_UNITS cmsis_nn_delegate_compute_gru_vectors_int16, STORE_INT16

#endif
