// The loops of channel_fives_dsp.S and channel_fives_int16_dsp.S.
//
// Four neighbouring outputs of a channel are computed at a time, row by row of the filter. SMLAD multiplies a word of a
// plane, columns 2a and 2a + 1, with the weights (2i, 2i + 1) for an output in an even column, and with (2i - 1, 2i) for
// one in an odd column, so nothing is loaded from between two words. Outputs of stride 2 begin in even columns only.
//
// A file that includes this includes then what defines SCALE, REQUANTIZE_FLOOR and REQUANTIZE_ANY: plane_scales_dsp.h, or
// plane_scales_int16_dsp.h.
#pragma once

#include "runtime/kernels/common/channel_fives_members.h"
#include "runtime/kernels/common/channel_planes_members.h"

#ifdef __ASSEMBLER__
// clang-format off

// The stack while a function runs. The sum for inputs of 0 is there four times, for LDM.
#define START 0
#define SHIFT 16
#define MULTIPLIER 20
#define CORRECTION 24
#define SUMS 28              // the code for the number of rows of the filter
#define REQUANTIZE 32        // and for the form of the channel
#define INPUTS_NOW 36
#define ROWS_NOW 40
#define WINDOWS 44           // of four outputs, in the plane
#define REST 48              // outputs of the row, with these four
#define OUTPUT_NOW 52
#define COLUMN_BYTES_NOW 56
#define ROW_WINDOWS 60       // of a row of outputs
#define ROW_OUTPUT 64
#define COPY 68              // of the ChannelBand
#define PLANES (COPY + CHANNEL_BAND_PLANES)
#define TABLE (COPY + CHANNEL_BAND_TABLE)
#define CHANNELS (COPY + CHANNEL_BAND_CHANNELS)
#define ROWS (COPY + CHANNEL_BAND_ROWS)
#define OUTPUTS (COPY + CHANNEL_BAND_OUTPUTS)
#define TAPS (COPY + CHANNEL_BAND_TAPS)
#define LINE_BYTES (COPY + CHANNEL_BAND_LINE_BYTES)
#define LIMITED (COPY + CHANNEL_BAND_LIMITED)
#define LEAST (COPY + CHANNEL_BAND_LEAST)
#define HALF_STEPS (COPY + CHANNEL_BAND_HALF_STEPS)
#define STACK_BYTES (COPY + CHANNEL_BAND_BYTES)  // with the saved registers, a multiple of 8

// Widens a row of five weights at r0 to pairs at r1.
.macro WIDEN1
  ldr r2, [r0], #4
  ldrsb r3, [r0], #1
  sxtb16 r6, r2
  sxtb16 r7, r2, ror #8
  pkhbt r8, r6, r7, lsl #16
  pkhtb r9, r7, r6, asr #16
  uxth r10, r3
  lsl r11, r6, #16
  pkhbt r12, r7, r6
  asr r4, r7, #16
  pkhbt lr, r4, r3, lsl #16
  stm r1!, {r8-r12, lr}
.endm
.macro WIDEN2
  ldr r2, [r0], #4
  ldrsb r3, [r0], #1
  sxtb16 r6, r2
  sxtb16 r7, r2, ror #8
  pkhbt r8, r6, r7, lsl #16
  pkhtb r9, r7, r6, asr #16
  uxth r10, r3
  stm r1!, {r8-r10}
.endm

// Adds the products of a row of the filter.
.macro ROW1
  ldm r0, {r3-r6}
  add r0, r0, r1
  ldm r2!, {r7-r9}
  smlad r10, r3, r7, r10
  smlad r10, r4, r8, r10
  smlad r10, r5, r9, r10
  smlad r12, r4, r7, r12
  smlad r12, r5, r8, r12
  smlad r12, r6, r9, r12
  ldm r2!, {r7-r9}
  smlad r11, r3, r7, r11
  smlad r11, r4, r8, r11
  smlad r11, r5, r9, r11
  smlad lr, r4, r7, lr
  smlad lr, r5, r8, lr
  smlad lr, r6, r9, lr
.endm
.macro ROW2
  ldm r0, {r3-r6}
  ldm r2!, {r7-r9}
  smlad r10, r3, r7, r10
  smlad r10, r4, r8, r10
  smlad r10, r5, r9, r10
  smlad r11, r4, r7, r11
  smlad r11, r5, r8, r11
  smlad r11, r6, r9, r11
  ldrd r3, r4, [r0, #16]
  add r0, r0, r1
  smlad r12, r5, r7, r12
  smlad r12, r6, r8, r12
  smlad r12, r3, r9, r12
  smlad lr, r6, r7, lr
  smlad lr, r3, r8, lr
  smlad lr, r4, r9, lr
.endm

// Begins the sums of four outputs, whose windows r0 points at.
.macro BEGIN
  NEIGHBOURS CHANNEL_BAND_LINE_BYTES, CHANNEL_BAND_WEIGHTS
  ldm sp, {r10, r11, r12, lr}
  ldrd r1, r2, [sp, #LINE_BYTES]
  ldr pc, [sp, #SUMS]
.endm

// void NAME(
//     const ChannelBand* band)   r0
//
// `store` stores an output of `bytes` bytes.
//
// Register usage
//   Windows   r0, in the plane
//   Line      r1 bytes
//   Weights   r2 their place, r7 r8 r9 three pairs
//   Words     r3-r6 of the plane; r1-r6 parameters where results are computed and stored
//   Sums      r10 r11 r12 lr
//   All else lies on the stack, where ChannelBand is copied to.
//
// Layout: see channel_fives.h. For each row of the filter, `weights` has the pairs (0, 1), (2, 3), (4, -), and with stride 1
// (-, 0), (1, 2), (3, 4) after them, as int16, with 0 where there is no weight.
//
// Cost, for four outputs of a channel with form FLOOR: 33 instructions, and 16 for each row of the filter, which are 113 for
// 100 products with five rows. ANY takes 13 more, and 11 more with limits. A row of outputs takes 18, a channel some 45 and
// 14 (stride 1) or 10 for each row of the filter.
//
// Bounds: fours begin at words 0, 2 * stride and so on of a line. Each reads 2 * stride + 2 words, so that the last one ends
// with the line, whose words line_words() has counted. Of the last four, only results of outputs that exist are stored. A
// row of outputs reads `taps` lines, from line y * stride on; the driver has made (rows - 1) * stride + taps of them. The
// table has (5 * taps + 4) / 4 + 2 words for each of `channels`, which init() compares with channel_words, so ReadsPast is 0:
// the word with weights 0 to 3 of a row ends before weight 4. `weights` has room for 6 words for each of five rows. `taps` is 1
// to 5, as depthwise_conv2d_5x5_accepts() says: the jump into the rows depends on it, and on their equal size, which is
// checked below.
.macro FILTER_FIVES name, stride, store=strb, bytes=1
  FUNCTION \name
  push {r4-r11, lr}
  NEIGHBOURS CHANNEL_BAND_PLANES, CHANNEL_BAND_OUTPUT, CHANNEL_BAND_TABLE, CHANNEL_BAND_CHANNELS, \
             CHANNEL_BAND_PLANE_BYTES, CHANNEL_BAND_ROWS, CHANNEL_BAND_ROW_BYTES, CHANNEL_BAND_OUTPUTS, \
             CHANNEL_BAND_COLUMN_BYTES, CHANNEL_BAND_TAPS, CHANNEL_BAND_LINE_BYTES, CHANNEL_BAND_WEIGHTS, \
             CHANNEL_BAND_LIMITED, CHANNEL_BAND_LEAST, CHANNEL_BAND_MOST, CHANNEL_BAND_HALF_STEPS, CHANNEL_BAND_BYTES
  sub sp, #STACK_BYTES
  add r9, sp, #COPY
  ldm r0!, {r1-r8}
  stm r9!, {r1-r8}
  ldm r0, {r1-r8}
  stm r9, {r1-r8}
  str r1, [sp, #COLUMN_BYTES_NOW]
  adr.w r0, 15f
  adr.w r1, 14f
  sub r1, r0, r1
  mls r0, r2, r1, r0
  orr r0, r0, #1
  str r0, [sp, #SUMS]

1:  // a channel
  ldr r0, [sp, #TABLE]
  ldr r1, [sp, #COPY + CHANNEL_BAND_WEIGHTS]
  ldr r5, [sp, #TAPS]
2:
  WIDEN\stride
  subs r5, #1
  bne 2b
  add r0, r0, #4
  bic r0, r0, #3
  ldr r3, [r0, #-4]
  ldrd r4, r5, [r0], #8
  str r0, [sp, #TABLE]
  strd r4, r4, [sp, #START]
  strd r4, r4, [sp, #START + 8]
  SCALE
  adr.w r0, 16f
  tst r10, #FLOOR_SHIFT
  beq 3f
  adr.w r0, 17f
3:
  orr r0, r0, #1
  str r0, [sp, #REQUANTIZE]
  NEIGHBOURS CHANNEL_BAND_PLANES, CHANNEL_BAND_OUTPUT
  ldrd r0, r1, [sp, #PLANES]
  ldr r2, [sp, #ROWS]
  str r2, [sp, #ROWS_NOW]

4:  // a row of outputs
  strd r0, r1, [sp, #ROW_WINDOWS]
  str r1, [sp, #OUTPUT_NOW]
  ldr r1, [sp, #OUTPUTS]
  strd r0, r1, [sp, #WINDOWS]
  BEGIN

10:
  LANDING_PAD
  ROW\stride
11:
  LANDING_PAD
  ROW\stride
12:
  LANDING_PAD
  ROW\stride
13:
  LANDING_PAD
  ROW\stride
14:
  LANDING_PAD
  ROW\stride
15:
  CODE_BYTES 10b, 5 * (15b - 14b)
  LANDING_PAD
  ldr pc, [sp, #REQUANTIZE]

  .balign 4
16:
  LANDING_PAD
  REQUANTIZE_ANY
  b 18f
  .balign 4
17:
  LANDING_PAD
  REQUANTIZE_FLOOR
18:
  ldrd r1, r2, [sp, #OUTPUT_NOW]
  ldrd r0, r3, [sp, #WINDOWS]
  subs r3, r3, #4
  blo 20f
  \store r10, [r1]
  \store r11, [r1, r2]
  add r1, r1, r2, lsl #1
  \store r12, [r1]
  \store lr, [r1, r2]
  add r1, r1, r2, lsl #1
  beq 21f
  add r0, r0, #8 * \stride
  str r1, [sp, #OUTPUT_NOW]
  strd r0, r3, [sp, #WINDOWS]
  BEGIN

20:  // one to three outputs, of which r3 + 4 are left
  \store r10, [r1]
  cmp r3, #-2
  blt 21f
  \store r11, [r1, r2]
  beq 21f
  \store r12, [r1, r2, lsl #1]
21:
  ldrd r0, r1, [sp, #ROW_WINDOWS]
  ldr r2, [sp, #LINE_BYTES]
  ldr r3, [sp, #COPY + CHANNEL_BAND_ROW_BYTES]
  ldr r4, [sp, #ROWS_NOW]
  add r0, r0, r2, lsl #\stride - 1
  add r1, r1, r3
  subs r4, #1
  str r4, [sp, #ROWS_NOW]
  bne 4b

  ldrd r0, r1, [sp, #PLANES]
  ldr r2, [sp, #COPY + CHANNEL_BAND_PLANE_BYTES]
  ldr r3, [sp, #CHANNELS]
  add r0, r0, r2
  add r1, r1, #\bytes
  strd r0, r1, [sp, #PLANES]
  subs r3, #1
  str r3, [sp, #CHANNELS]
  bne 1b
  add sp, #STACK_BYTES
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

// clang-format on
#endif
