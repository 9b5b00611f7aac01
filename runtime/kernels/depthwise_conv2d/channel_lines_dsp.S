// The inner loops of runtime/kernels/depthwise_conv2d/channel_lines.h for Armv7E-M and Armv8-M with DSP.
//
// SMLAD multiplies a word of a line, columns 2a and 2a + 1, with weights (2i, 2i + 1) for an output in column 2 * (a - i),
// and with weights (2i - 1, 2i) for the one beside it, so nothing is loaded from between two words or packed. Four outputs
// of a channel are computed at a time.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/depthwise_conv2d/channel_lines_members.h"

  .syntax unified
  .thumb

// The stack while the function runs. The sum for inputs of 0 is there four times, for LDM.
#define START 0
#define SHIFT 16
#define MULTIPLIER 20
#define CORRECTION 24
#define SUMS 28              // the code for the number of pairs
#define REQUANTIZE 32        // and for the form of the channel
#define COLUMN_BYTES_NOW 36
#define FOURS_END 40
#define RESULTS 44           // the last four, of which one to three are outputs
#define OUTPUT_NOW 48        // where these go
#define INPUTS_NOW 52
#define COPY 56              // of the ChannelLine
#define LINE (COPY + CHANNEL_LINE_LINE)
#define TABLE (COPY + CHANNEL_LINE_TABLE)
#define CHANNELS (COPY + CHANNEL_LINE_CHANNELS)
#define COLUMN_BYTES (COPY + CHANNEL_LINE_COLUMN_BYTES)
#define LAST (COPY + CHANNEL_LINE_LAST)
#define LIMITED (COPY + CHANNEL_LINE_LIMITED)
#define LEAST (COPY + CHANNEL_LINE_LEAST)
#define HALF_STEPS (COPY + CHANNEL_LINE_HALF_STEPS)
#define PAIRS (COPY + CHANNEL_LINE_PAIRS)
#define WEIGHTS (COPY + CHANNEL_LINE_WEIGHTS)
#define STACK_BYTES (COPY + CHANNEL_LINE_BYTES)  // with the saved registers, a multiple of 8

#include "runtime/kernels/common/plane_scales_dsp.h"

// Stores both kinds of pairs of the four weights in r2 at r1; r9 is the weight before them, and then the last one.
.macro PAIR_WEIGHTS
  sxtb16 r6, r2
  sxtb16 r7, r2, ror #8
  pkhbt r10, r6, r7, lsl #16
  pkhbt r11, r9, r6, lsl #16
  strd r10, r11, [r1], #8
  pkhtb r10, r7, r6, asr #16
  pkhbt r11, r7, r6
  strd r10, r11, [r1], #8
  asr r9, r7, #16
.endm

// Adds the products of a pair of weights of both kinds with two words of a line.
.macro PRODUCTS first, second, even, odd
  smlad r10, \first, \even, r10
  smlad r11, \first, \odd, r11
  smlad r12, \second, \even, r12
  smlad lr, \second, \odd, lr
.endm

// void cmsis_nn_delegate_filter_line(
//     const ChannelLine* line)   r0
//
// Register usage
//   Inputs    r0 the line
//   Outputs   r1
//   Words     r2 r3 of the line; parameters where results are computed and stored
//   Weights   r4 r6 r8 pairs that begin with an even weight, r5 r7 r9 with an odd one, if there are 2 or 3 pairs; else
//             r4 r5 one of each, r6 their place, r7 that in the line, r8 r9 begin and end of all
//   Sums      r10 r11 r12 lr
//   All else lies on the stack, where ChannelLine is copied to.
//
// Layout: see channel_lines.h. In `weights` lie the pairs (0, 1), (-1, 0), (2, 3), (1, 2) and so on, as int16, with 0 where
// there is no weight.
//
// Cost, for four outputs of a channel with form FLOOR: 37 instructions for 2 pairs (2 or 3 taps), 42 for 3 (4 or 5 taps),
// and for more 29 and 14 for every two pairs, which are four taps. ANY takes 13 more, and 11 more with limits. A channel
// takes 12 for every four weights and some 40 once.
//
// Bounds: fours begin at 0 to `fours_bytes`, and where `last` is set one more begins there. Each reads its own word and as
// many as there are pairs, rounded up to an even number: line_words() has counted these. Outputs behind the fours are
// computed as four, whose results go to the stack, and `last` of them from there to the output. Weights are read and
// written in pairs, two at a time, for which `weights` has room. The table has (pairs + 1) / 2 + 2 words for each of
// `channels`, which init() compares with channel_words, so ReadsPast is 0.
  FUNCTION cmsis_nn_delegate_filter_line
  push {r4-r11, lr}
  NEIGHBOURS CHANNEL_LINE_LINE, CHANNEL_LINE_OUTPUT, CHANNEL_LINE_TABLE, CHANNEL_LINE_CHANNELS, CHANNEL_LINE_COLUMN_BYTES, \
             CHANNEL_LINE_FOURS_BYTES, CHANNEL_LINE_LAST, CHANNEL_LINE_LIMITED, CHANNEL_LINE_LEAST, CHANNEL_LINE_MOST, \
             CHANNEL_LINE_HALF_STEPS, CHANNEL_LINE_PAIRS, CHANNEL_LINE_WEIGHTS, CHANNEL_LINE_BYTES
  ldm r0, {r1-r12, lr}
  sub sp, #STACK_BYTES
  add r0, sp, #COPY
  stm r0, {r1-r12, lr}
  adr.w r0, .Lsums_of_any
  cmp r12, #3
  bhi 1f
  adr.w r0, .Lsums_of_3
  beq 1f
  adr.w r0, .Lsums_of_2
1:
  orr r0, r0, #1
  str r0, [sp, #SUMS]

.Lchannel:
  ldr r0, [sp, #TABLE]
  NEIGHBOURS CHANNEL_LINE_PAIRS, CHANNEL_LINE_WEIGHTS
  ldrd r8, r1, [sp, #PAIRS]
  mov r9, #0
  subs r8, r8, #2
  ble 3f
2:
  ldr r2, [r0], #4
  PAIR_WEIGHTS
  subs r8, r8, #2
  bgt 2b
3:
  ldr r3, [r0], #4
  bic r2, r3, #0xff000000
  PAIR_WEIGHTS
  ldrd r4, r5, [r0], #8
  str r0, [sp, #TABLE]
  strd r4, r4, [sp, #START]
  strd r4, r4, [sp, #START + 8]
  SCALE
  adr.w r0, .Lany
  tst r10, #FLOOR_SHIFT
  beq 4f
  adr.w r0, .Lfloor
4:
  orr r0, r0, #1
  str r0, [sp, #REQUANTIZE]
  mov r9, r1
  ldrd r2, r8, [sp, #PAIRS]
  cmp r2, #3
  it eq
  ldmeq r8, {r4-r9}
  it lo
  ldmlo r8, {r4-r7}
  NEIGHBOURS CHANNEL_LINE_LINE, CHANNEL_LINE_OUTPUT
  ldrd r0, r1, [sp, #LINE]
  NEIGHBOURS CHANNEL_LINE_COLUMN_BYTES, CHANNEL_LINE_FOURS_BYTES
  ldrd r2, r3, [sp, #COLUMN_BYTES]
  add r3, r3, r0
  strd r2, r3, [sp, #COLUMN_BYTES_NOW]
  cmp r0, r3
  beq .Lend
  ldr pc, [sp, #SUMS]

.Lsums_of_2:
  LANDING_PAD
  ldr r2, [r0], #32
  ldr r3, [r0, #-16]
  ldm sp, {r10, r11, r12, lr}
  PRODUCTS r2, r3, r4, r5
  ldr r2, [r0]
  PRODUCTS r3, r2, r6, r7
  ldr pc, [sp, #REQUANTIZE]

.Lsums_of_3:
  LANDING_PAD
  ldr r2, [r0], #32
  ldr r3, [r0, #-16]
  ldm sp, {r10, r11, r12, lr}
  PRODUCTS r2, r3, r4, r5
  ldr r2, [r0]
  PRODUCTS r3, r2, r6, r7
  ldr r3, [r0, #16]
  PRODUCTS r2, r3, r8, r9
  ldr pc, [sp, #REQUANTIZE]

.Lsums_of_any:
  LANDING_PAD
  mov r6, r8
  ldr r2, [r0], #32
  sub r7, r0, #16
  ldm sp, {r10, r11, r12, lr}
5:
  ldrd r4, r5, [r6], #8
  ldr r3, [r7], #16
  PRODUCTS r2, r3, r4, r5
  ldrd r4, r5, [r6], #8
  ldr r2, [r7], #16
  PRODUCTS r3, r2, r4, r5
  cmp r6, r9
  bne 5b
  ldr pc, [sp, #REQUANTIZE]

.Lany:
  LANDING_PAD
  REQUANTIZE_ANY
  b .Lstore
.Lfloor:
  LANDING_PAD
  REQUANTIZE_FLOOR
.Lstore:
  ldrd r2, r3, [sp, #COLUMN_BYTES_NOW]
  strb r10, [r1]
  strb r11, [r1, r2]
  add r1, r1, r2, lsl #1
  strb r12, [r1]
  strb lr, [r1, r2]
  add r1, r1, r2, lsl #1
  cmp r0, r3
  it ne
  ldrne pc, [sp, #SUMS]

.Lend:  // of the fours, or of the four results on the stack
  ldr r2, [sp, #LAST]
  cbz r2, 8f
  add r3, sp, #RESULTS
  sub r12, r1, r3
  cmp r12, #4
  beq 6f
  str r1, [sp, #OUTPUT_NOW]
  mov r1, r3
  mov r2, #1
  add r3, r0, #32
  strd r2, r3, [sp, #COLUMN_BYTES_NOW]
  ldr pc, [sp, #SUMS]
6:
  ldr r1, [sp, #OUTPUT_NOW]
  ldr r4, [sp, #COLUMN_BYTES]
7:
  ldrb r5, [r3], #1
  strb r5, [r1]
  add r1, r1, r4
  subs r2, r2, #1
  bne 7b
8:
  ldrd r0, r1, [sp, #LINE]
  ldr r2, [sp, #CHANNELS]
  add r0, r0, #4
  add r1, r1, #1
  strd r0, r1, [sp, #LINE]
  subs r2, r2, #1
  str r2, [sp, #CHANNELS]
  bne .Lchannel
  add sp, #STACK_BYTES
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_filter_line, .-cmsis_nn_delegate_filter_line

#endif
