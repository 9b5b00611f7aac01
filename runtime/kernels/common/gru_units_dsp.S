// The function of runtime/kernels/common/gru_units.h for Armv7E-M and Armv8-M with DSP.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/gru_units_members.h"

  .syntax unified
  .thumb

// void cmsis_nn_delegate_compute_gru_pairs(
//     const GruUnits* units)   r0
//
// Register usage
//   Gates     r0, of a unit the 16-bit numbers r z and both sums of n
//   State     r1, up to lr
//   Output    r2
//   Lines     r3, and their steps r12
//   Added     r4 half of a step of r * sum, r5 its shift
//   Scale     r6 multiplier, r7 half of a step and the zero point, r8 shift
//   r9 r10 r11 are temporary.
//
// Cost: 30 instructions a unit.
//
// Bounds: reads 8 bytes of gates and writes 1 byte of output for each of `units` units, at least 1; reads and writes 2
// bytes of the state. The table of lines has 512 entries, within which the argument is limited. ReadsPast is 0.
  FUNCTION cmsis_nn_delegate_compute_gru_pairs
  push {r4-r11, lr}
  NEIGHBOURS GRU_UNITS_GATES, GRU_UNITS_STATE, GRU_UNITS_OUTPUT, GRU_UNITS_UNITS, GRU_UNITS_GATE_STEP, GRU_UNITS_LINES, GRU_UNITS_NEW_BITS
  ldrd r3, r5, [r0, #GRU_UNITS_LINES]
  add r12, r3, #GATE_LINES_STEPS
  add r3, r3, #GATE_LINES_STARTS
  add r5, r5, #3
  mov r4, #1
  lsl r4, r4, r5
  lsr r4, r4, #1
  ldrd r6, r7, [r0, #GRU_UNITS_SCALE + 4]
  ldr r8, [r0, #GRU_UNITS_SCALE + 12]
  ldrd r2, lr, [r0, #GRU_UNITS_OUTPUT]
  ldrd r0, r1, [r0, #GRU_UNITS_GATES]
  add lr, r1, lr, lsl #1
1:  // one unit
  ldrsh r9, [r0], #8
  ldrsh r10, [r0, #-2]
  ldrsh r11, [r0, #-4]
  smlabb r9, r9, r10, r4
  asr r9, r9, r5
  add r9, r9, r11
  ssat r9, #16, r9
  // n
  add r9, r9, r9, lsl #1
  ssat r9, #18, r9, lsl #1
  asr r10, r9, #9
  ldr r11, [r3, r10, lsl #2]
  ldrh r10, [r12, r10, lsl #1]
  mla r9, r9, r10, r11
  ldrsh r11, [r1]
  ldrsh r10, [r0, #-6]
  sub r9, r9, #0x01000100
  asr r9, r9, #9
  // s
  sub r11, r11, r9
  mul r10, r10, r11
  add r10, r10, #0x4000
  add r9, r9, r10, asr #15
  strh r9, [r1], #2
  // h
  lsl r9, r9, #1
  smmlar r10, r9, r6, r7
  add r10, r10, r9, asr #31
  asr r10, r10, r8
  ssat r10, #8, r10
  strb r10, [r2], #1
  cmp r1, lr
  bne 1b
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_compute_gru_pairs, .-cmsis_nn_delegate_compute_gru_pairs

#endif
