// The function of runtime/kernels/common/lstm_units.h for Armv7E-M and Armv8-M with DSP.
//
// Products of two numbers with 15 bits after the point are requantized by 1/2 and a power of two: both roundings together
// add half of a step, and 1 that has the sign of the product, which is that of the factor that may be negative.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/lstm_units_members.h"

  .syntax unified
  .thumb

// void cmsis_nn_delegate_compute_lstm_pairs(
//     const LstmUnits* units)   r0
//
// Register usage
//   Gates     r0, of a unit the 16-bit numbers i f g o
//   Cells     r1, up to lr
//   Output    r2
//   Lines     r3
//   Added     r4 half of a step of i * g and 1, r5 its shift
//   Argument  r6: of tanh, the factor of the cell * 2^16
//   Scale     r7 multiplier, r8 half of a step and the zero point, r9 shift
//   r10 r11 r12 are temporary.
//
// Cost: 36 instructions a unit.
//
// Bounds: reads 8 bytes of gates and writes 1 byte of output for each of `units` units, at least 1; reads and writes 2
// bytes of cells. The table of lines has 512 entries, within which the argument is limited. ReadsPast is 0.
  FUNCTION cmsis_nn_delegate_compute_lstm_pairs
  push {r4-r11, lr}
  NEIGHBOURS LSTM_UNITS_GATES, LSTM_UNITS_STATE, LSTM_UNITS_OUTPUT, LSTM_UNITS_UNITS
  ldr r3, [r0, #LSTM_UNITS_LINES]
  add r3, r3, #GATE_LINES_STARTS
  ldr r10, [r0, #LSTM_UNITS_CELL_BITS]
  rsb r5, r10, #30
  rsb r6, r10, #28
  mov r4, #1
  lsl r4, r4, r5
  lsr r4, r4, #1
  add r4, r4, #1
  mov r11, #3
  lsl r6, r11, r6
  ldrd r7, r8, [r0, #LSTM_UNITS_SCALE + 4]
  ldr r9, [r0, #LSTM_UNITS_SCALE + 12]
  ldrd r2, lr, [r0, #LSTM_UNITS_OUTPUT]
  ldrd r0, r1, [r0, #LSTM_UNITS_GATES]
  add lr, r1, lr, lsl #1
1:  // one unit
  // f * c
  ldrsh r10, [r0, #2]
  ldrsh r11, [r1]
  asr r12, r11, #31
  orr r12, r12, #1
  smlabb r10, r10, r11, r12
  add r10, r10, #0x4000
  asr r10, r10, #15
  // i * g
  ldrsh r11, [r0], #8
  ldrsh r12, [r0, #-4]
  smlabb r11, r11, r12, r4
  asr r12, r12, #31
  add r11, r11, r12, lsl #1
  asr r11, r11, r5
  add r10, r10, r11
  ssat r10, #16, r10
  strh r10, [r1], #2
  // tanh(c)
  lsl r10, r10, #16
  smmulr r10, r10, r6
  ssat r10, #18, r10, lsl #1
  asr r11, r10, #9
  ldr r12, [r3, r11, lsl #2]
  add r11, r3, r11, lsl #1
  ldrh r11, [r11, #GATE_LINES_STEPS - GATE_LINES_STARTS]
  mla r10, r10, r11, r12
  ldrsh r12, [r0, #-2]
  sub r10, r10, #0x01000100
  asr r10, r10, #9
  // o * tanh(c)
  smulbb r10, r10, r12
  lsl r10, r10, #1
  smmlar r11, r10, r7, r8
  add r11, r11, r10, asr #31
  asr r11, r11, r9
  ssat r11, #8, r11
  strb r11, [r2], #1
  cmp r1, lr
  bne 1b
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_compute_lstm_pairs, .-cmsis_nn_delegate_compute_lstm_pairs

#endif
