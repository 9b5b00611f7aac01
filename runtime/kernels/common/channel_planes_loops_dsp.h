// The loops of channel_planes_dsp.S and channel_planes_int16_dsp.S.
//
// Two by two outputs of a channel are computed at a time. The nine weights stay in six registers, as pairs
// (0, 1) and (1, 2) of each row of the filter, so that every pair of inputs takes one or two instructions an output.
#pragma once

#include "runtime/kernels/common/channel_planes_members.h"

#ifdef __ASSEMBLER__
// clang-format off

// The stack while a function runs. The sum for inputs of 0 is there four times, for LDM.
#define START 0
#define SHIFT 16
#define MULTIPLIER 20
#define CORRECTION 24
#define PAIRS_END 28
#define COLUMN_BYTES_NOW 32
#define ROW_BYTES 36
#define PLANES 40
#define OUTPUT 44
#define TABLE 48
#define CHANNELS 52
#define COLUMN_BYTES 56
#define PAIRS_BYTES 60
#define LAST 64
#define LIMITED 68
#define LEAST 72
#define HALF_STEPS 80
#define INPUTS_NOW 84
#define OUTPUT_NOW 88
#define STACK_BYTES 92  // with the saved registers, a multiple of 8

// Registers of the macros below: r0 columns of inputs, r1 outputs, r2 r3 inputs or parameters, r4-r9 weights,
// r10 r11 sums of the first row, r12 lr of the second.

// What one row of inputs adds to the two sums of one row of outputs; w0 has the weights (0, 1), w1 has (1, 2).
.macro LEFT1 in, w0, a, b
  smlad \a, \in, \w0, \a
  smlatb \b, \in, \w0, \b
.endm
.macro RIGHT1 in, w1, a, b
  smlabt \a, \in, \w1, \a
  smlad \b, \in, \w1, \b
.endm
.macro LEFT2 in, w0, a
  smlad \a, \in, \w0, \a
.endm
.macro MIDDLE2 in, w0, w1, a, b
  smlabt \a, \in, \w1, \a
  smlad \b, \in, \w0, \b
.endm
.macro RIGHT2 in, w1, b
  smlabt \b, \in, \w1, \b
.endm

// Sums from four rows of inputs; rows 2 and 3 become rows 0 and 1.
#define COLUMN1 CHANNEL_PLANES_COLUMN1
.macro SUMS1
  ldm sp, {r10, r11, r12, lr}
  ldrd r2, r3, [r0]
  LEFT1 r2, r4, r10, r11
  LEFT1 r3, r6, r10, r11
  LEFT1 r3, r4, r12, lr
  ldrd r2, r3, [r0, #COLUMN1]
  RIGHT1 r2, r5, r10, r11
  RIGHT1 r3, r7, r10, r11
  RIGHT1 r3, r5, r12, lr
  ldrd r2, r3, [r0, #COLUMN1 + 8]
  RIGHT1 r2, r9, r10, r11
  RIGHT1 r2, r7, r12, lr
  RIGHT1 r3, r9, r12, lr
  ldrd r2, r3, [r0, #8]
  LEFT1 r2, r8, r10, r11
  LEFT1 r2, r6, r12, lr
  LEFT1 r3, r8, r12, lr
  strd r2, r3, [r0], #COLUMN1
.endm
.macro KEEP1
  ldrd r2, r3, [r0, #8]
  strd r2, r3, [r0]
.endm

// Sums from five rows of inputs; row 4 becomes row 0.
#define COLUMN2 CHANNEL_PLANES_COLUMN2
.macro SUMS2
  ldm sp, {r10, r11, r12, lr}
  ldrd r2, r3, [r0, #2 * COLUMN2]
  RIGHT2 r2, r5, r11
  RIGHT2 r3, r7, r11
  ldrd r2, r3, [r0, #2 * COLUMN2 + 8]
  RIGHT2 r2, r9, r11
  RIGHT2 r2, r5, lr
  RIGHT2 r3, r7, lr
  ldrd r2, r3, [r0, #COLUMN2]
  MIDDLE2 r2, r4, r5, r10, r11
  MIDDLE2 r3, r6, r7, r10, r11
  ldrd r2, r3, [r0, #COLUMN2 + 8]
  MIDDLE2 r2, r8, r9, r10, r11
  MIDDLE2 r2, r4, r5, r12, lr
  MIDDLE2 r3, r6, r7, r12, lr
  ldr r2, [r0, #COLUMN2 + 16]
  ldr r3, [r0, #2 * COLUMN2 + 16]
  MIDDLE2 r2, r8, r9, r12, lr
  RIGHT2 r3, r9, lr
  str r2, [r0, #COLUMN2]
  ldrd r2, r3, [r0]
  LEFT2 r2, r4, r10
  LEFT2 r3, r6, r10
  ldrd r2, r3, [r0, #8]
  LEFT2 r2, r8, r10
  LEFT2 r2, r4, r12
  LEFT2 r3, r6, r12
  ldr r2, [r0, #16]
  LEFT2 r2, r8, r12
  str r2, [r0], #2 * COLUMN2
.endm
.macro KEEP2
  ldr r2, [r0, #16]
  str r2, [r0]
.endm

// Where there is no second column or row, its step is 0 and what is stored first is overwritten.
.macro STORE loop, store
  ldrd r2, r3, [sp, #COLUMN_BYTES_NOW]
  add r3, r3, r1
  \store lr, [r3, r2]
  \store r12, [r3]
  \store r11, [r1, r2]
  \store r10, [r1]
  add r1, r1, r2, lsl #1
  ldr r2, [sp, #PAIRS_END]
  cmp r0, r2
  bne \loop
.endm

// `scale` makes shift, multiplier and correction of a channel of r3, r5 and what it reads on the stack, and leaves the
// first in r10; `floor` and `any` make results of sums, and `store` stores one, which takes `result_bytes`.
.macro FILTER name, sums, keep, channel_bytes, pair_bytes, scale, floor, any, store, result_bytes
  FUNCTION \name
  push {r4-r11, lr}
  NEIGHBOURS PLANE_ROWS_PLANES, PLANE_ROWS_OUTPUT, PLANE_ROWS_TABLE, PLANE_ROWS_CHANNELS, PLANE_ROWS_COLUMN_BYTES, \
             PLANE_ROWS_ROW_BYTES, PLANE_ROWS_PAIRS_BYTES, PLANE_ROWS_LAST, PLANE_ROWS_LIMITED, PLANE_ROWS_LEAST, \
             PLANE_ROWS_MOST, PLANE_ROWS_HALF_STEPS, PLANE_ROWS_BYTES
  ldm r0, {r1-r12}
  sub sp, #STACK_BYTES
  // r1 planes, r2 output, r3 table, r4 channels, r5 column_bytes, r6 row_bytes, r7 pairs_bytes, r8 last, r9 limited,
  // r10 least, r11 most, r12 half_steps
  str r6, [sp, #ROW_BYTES]
  add r6, sp, #PLANES
  stm r6!, {r1-r5}
  stm r6, {r7-r12}
1:  // a channel
  ldr r0, [sp, #TABLE]
  ldm r0!, {r1-r5}
  str r0, [sp, #TABLE]
  strd r4, r4, [sp, #START]
  strd r4, r4, [sp, #START + 8]
  \scale
  // The word of the last row has the weights 0, 1, 2 where those of the others have 0, 1, 1, 2.
  sxtb16 r4, r1
  sxtb16 r5, r1, ror #8
  sxtb16 r6, r2
  sxtb16 r7, r2, ror #8
  sxtb16 r1, r3
  sxtb16 r9, r3, ror #8
  pkhbt r8, r1, r9, lsl #16
  pkhbt r9, r9, r1
  ldrd r0, r1, [sp, #PLANES]
  ldrd r2, r3, [sp, #COLUMN_BYTES]
  str r2, [sp, #COLUMN_BYTES_NOW]
  add r2, r0, r3
  str r2, [sp, #PAIRS_END]
  cmp r3, #0
  beq 4f
  tst r10, #FLOOR_SHIFT
  beq 3f
2:
  \sums
  \floor
  STORE 2b, \store
  b 4f
3:
  \sums
  \any
  STORE 3b, \store
4:
  ldr r2, [sp, #LAST]
  ldr r3, [sp, #COLUMN_BYTES_NOW]
  cbz r2, 6f
  cbz r3, 6f
  movs r3, #0
  str r3, [sp, #COLUMN_BYTES_NOW]
  add r2, r0, #\pair_bytes
  str r2, [sp, #PAIRS_END]
  ldr r3, [sp, #SHIFT]
  tst r3, #FLOOR_SHIFT
  bne 2b
  b 3b
6:
  \keep
  ldrd r0, r1, [sp, #PLANES]
  ldr r2, [sp, #CHANNELS]
  adds r0, #\channel_bytes
  adds r1, #\result_bytes
  strd r0, r1, [sp, #PLANES]
  subs r2, #1
  str r2, [sp, #CHANNELS]
  bne 1b
  add sp, #STACK_BYTES
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

// clang-format on
#endif
