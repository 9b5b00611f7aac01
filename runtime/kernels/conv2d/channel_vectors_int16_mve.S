// The inner loops of runtime/kernels/common/channel_windows.h for int16, with MVE.
//
// Two outputs of eight channels at a time: inputs and weights are widened to 32 bits where they are loaded, four channels
// in a vector. VMULLB and VMULLT, which would multiply eight and widen, take 7 instructions less for a row of three taps,
// but Renode 1.16.1 computes other products than QEMU.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/channel_windows_loops_mve.h"

  .syntax unified
  .thumb

// Registers of the macros below: see "Register usage".

.macro WEIGHTS from:vararg
  vldrb.s32 q4, \from
.endm
// Adds the products of four channels of the first output with the inputs at `from`, or else with those in q5.
.macro FIRST sums, from:vararg
  .ifnb \from
  vldrh.s32 q5, \from
  .endif
  vmul.i32 q6, q5, q4
  vadd.i32 \sums, \sums, q6
.endm
// The same of the second output.
.macro SECOND sums, from:vararg
  .ifnb \from
  vldrh.s32 q5, \from
  .endif
  vmul.i32 q7, q5, q4
  vadd.i32 \sums, \sums, q7
.endm
.macro CHOOSE
  ldr r1, [r0, #CHANNEL_WINDOWS_TAPS_WIDE]
  adr.w r2, .Lany_taps
  cmp r1, #3
  bne 2f
  adr.w r2, .Lapart
  cmp r9, r11
  bne 2f
  adr.w r2, .Lshared
2:
.endm

.macro PRODUCTS
.Lshared:  // three columns, of which two are those of the second window too
  LANDING_PAD
  dls lr, lr
4:
  add r1, r0, r9
  add r2, r1, r9
  add r3, r2, r9
  WEIGHTS [r4, #4]
  FIRST q1, [r0, #8]
  SECOND q3, [r1, #8]
  WEIGHTS [r4, #12]
  FIRST q1
  SECOND q3, [r2, #8]
  WEIGHTS [r4, #20]
  FIRST q1
  SECOND q3, [r3, #8]
  WEIGHTS [r4, #16]
  SECOND q2, [r3]
  FIRST q0, [r2]
  WEIGHTS [r4, #8]
  SECOND q2
  FIRST q0, [r1]
  WEIGHTS [r4], #24
  SECOND q2
  FIRST q0, [r0]
  NEXT_ROW
  le lr, 4b
  ldr pc, [sp, #REQUANTIZE]

.Lapart:  // three columns
  LANDING_PAD
  dls lr, lr
5:
  add r1, r0, r11
  add r2, r0, r9
  add r3, r1, r9
  WEIGHTS [r4, #4]
  FIRST q1, [r0, #8]
  SECOND q3, [r1, #8]
  WEIGHTS [r4, #12]
  FIRST q1, [r2, #8]
  SECOND q3, [r3, #8]
  WEIGHTS [r4, #8]
  FIRST q0, [r2]
  SECOND q2, [r3]
  add r2, r2, r9
  add r3, r3, r9
  WEIGHTS [r4, #20]
  FIRST q1, [r2, #8]
  SECOND q3, [r3, #8]
  WEIGHTS [r4, #16]
  FIRST q0, [r2]
  SECOND q2, [r3]
  WEIGHTS [r4], #24
  FIRST q0, [r0]
  SECOND q2, [r1]
  NEXT_ROW
  le lr, 5b
  ldr pc, [sp, #REQUANTIZE]

.Lany_taps:
  LANDING_PAD
  mov r3, lr  // rows left
6:
  ldr r1, [sp, #ROW]
  ldr lr, [r1, #CHANNEL_WINDOWS_TAPS_WIDE]
  mov r1, r0
  add r2, r0, r11
  dls lr, lr
7:
  WEIGHTS [r4, #4]
  FIRST q1, [r1, #8]
  SECOND q3, [r2, #8]
  WEIGHTS [r4], #8
  FIRST q0, [r1]
  SECOND q2, [r2]
  add r1, r1, r9
  add r2, r2, r9
  le lr, 7b
  NEXT_ROW
  subs r3, r3, #1
  bne 6b
  ldr pc, [sp, #REQUANTIZE]
.endm

.macro LEAST
  vmov.i32 q4, #0
  vmov.i32 q5, #0x7fff
.endm
.macro ANY
  vdup.32 q4, r2
  vdup.32 q5, r3
.endm
.macro STORE
  vmax.s32 q2, q2, q4
  vmax.s32 q3, q3, q4
  vmin.s32 q2, q2, q5
  vmin.s32 q3, q3, q5
  vmax.s32 q0, q0, q4
  vmax.s32 q1, q1, q4
  vmin.s32 q0, q0, q5
  vmin.s32 q1, q1, q5
  vstrh.32 q2, [r5], #8
  vstrh.32 q3, [r5], #8
  vstrh.32 q0, [r6], #8
  vstrh.32 q1, [r6], #8
.endm

// void cmsis_nn_delegate_channel_vectors_int16(
//     const ChannelWindowsOf<int16_t>* row)   r0
//
// Register usage and bounds: see channel_windows_loops_mve.h; q4 weights, q5 inputs, q6 q7 products. Multipliers and shifts,
// and then limits, take q4 q5 afterwards.
//
// Layout of the table, for each 8 channels: 8 biases, int32; 8 weights of each tap; 4 multipliers, 4 shifts, 4
// multipliers, 4 shifts, int32.
//
// Cost, for 8 channels of two outputs with form LEAST: 41 instructions and for each row of three taps 46, of which 38 are
// vector instructions, if the windows lie as far apart as the taps, or else 52, 42 of them vector instructions; for each
// row of another number of taps 11, and 17 for each of its taps. Form ANY takes 11 more.
  CHANNEL_WINDOWS cmsis_nn_delegate_channel_vectors_int16, 1, CHOOSE, PRODUCTS, LEAST, ANY, STORE

#endif
