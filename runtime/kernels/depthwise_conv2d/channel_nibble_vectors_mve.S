// The inner loops of runtime/kernels/depthwise_conv2d/channel_nibble_vectors.h for MVE.
//
// Two outputs of eight channels at a time: products of int8 with weights of 4 bits in lanes of 16 bits, where the sums of
// all nine fit; then they are widened and added to the sums for inputs of 0.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/depthwise_conv2d/channel_vectors_loops_mve.h"

  .syntax unified
  .thumb

// Registers of the macros below: see "Register usage".

// The weights of the next two taps.
.macro WEIGHTS
  vldrb.s16 q0, [r4], #8
  vshl.i16 q4, q0, #12
  vshr.s16 q4, q4, #12
  vshr.s16 q0, q0, #4
.endm
// The first tap: both outputs.
.macro FIRST weights, a, b
  vldrb.s16 q7, \a
  vmul.i16 q5, q7, \weights
  vldrb.s16 q7, \b
  vmul.i16 q6, q7, \weights
.endm
// Another one. If no `a` is given, it is what the one before has loaded last.
.macro NEXT weights, a, b
  .ifnb \a
  vldrb.s16 q7, \a
  .endif
  vmul.i16 q1, q7, \weights
  vadd.i16 q5, q5, q1
  vldrb.s16 q7, \b
  vmul.i16 q1, q7, \weights
  vadd.i16 q6, q6, q1
.endm
.macro LAST_WEIGHTS
  vldrb.s16 q4, [r4], #8
.endm

.macro TAPS_dense
  COLUMNS r0, 1
  WEIGHTS
  FIRST q4, "[r0], #8", "[r3]"
  NEXT q0, , "[r5]"
  WEIGHTS
  NEXT q4, , "[r6]"
  COLUMNS r1, 1
  NEXT q0, "[r1], #8", "[r3]"
  WEIGHTS
  NEXT q4, , "[r5]"
  NEXT q0, , "[r6]"
  COLUMNS r2, 1
  WEIGHTS
  NEXT q4, "[r2], #8", "[r3]"
  NEXT q0, , "[r5]"
  LAST_WEIGHTS
  NEXT q4, , "[r6]"
.endm
.macro TAPS_strided
  COLUMNS r0, 2
  WEIGHTS
  FIRST q4, "[r0], #8", "[r5]"
  NEXT q0, "[r3]", "[r6]"
  WEIGHTS
  NEXT q4, "[r5]", "[r7]"
  COLUMNS r1, 2
  NEXT q0, "[r1], #8", "[r5]"
  WEIGHTS
  NEXT q4, "[r3]", "[r6]"
  NEXT q0, "[r5]", "[r7]"
  COLUMNS r2, 2
  WEIGHTS
  NEXT q4, "[r2], #8", "[r5]"
  NEXT q0, "[r3]", "[r6]"
  LAST_WEIGHTS
  NEXT q4, "[r5]", "[r7]"
.endm
.macro TAPS steps
  TAPS_\steps
.endm
// Nothing, because sums begin where they are widened.
.macro START
.endm

// Widens the sums of the even or odd channels, both outputs, and multiplies them; q7 is then their shifts.
.macro MULTIPLY widen, a, b
  vldrw.32 \a, [r4], #16
  vshl.i32 q7, \a, #26
  vshr.s32 q7, q7, #26
  vshr.s32 \a, \a, #6
  \widen \b, q6
  vadd.i32 \b, \b, \a
  \widen q4, q5
  vadd.i32 \a, \a, q4
  vldrw.32 q4, [r4], #16
  vqrdmulh.s32 \a, \a, q4
  vqrdmulh.s32 \b, \b, q4
.endm
.macro SCALE widen, a, b
  MULTIPLY \widen, \a, \b
  vrshl.s32 \a, \a, q7
  vrshl.s32 \b, \b, q7
.endm
// The same with halves below zero away from zero.
.macro SCALE_AWAY widen, a, b
  MULTIPLY \widen, \a, \b
  vshr.s32 q4, \a, #31
  vadd.i32 \a, \a, q4
  vshr.s32 q4, \b, #31
  vadd.i32 \b, \b, q4
  vrshl.s32 \a, \a, q7
  vrshl.s32 \b, \b, q7
.endm
.macro SCALES
  SCALE vmovlb.s16, q0, q2
  SCALE vmovlt.s16, q1, q3
.endm
.macro SCALES_AWAY
  SCALE_AWAY vmovlb.s16, q0, q2
  SCALE_AWAY vmovlt.s16, q1, q3
.endm

// void cmsis_nn_delegate_channel_nibble_vectors(
//     const ChannelVectorRow* row)   r0
//
// Register usage: see channel_vectors_loops_mve.h; q0 q4 the weights of two taps, q1 products, q5 q6 sums of products of
// both outputs in 16 bits, q7 inputs and then shifts. Multipliers take q4 afterwards.
//
// Layout of the table, for each 8 channels, 104 bytes: 4 x 8 bytes for two taps each, the first in the lower halves, and 8
// for the last tap; of the even channels 4 words with a shift in the lowest 6 bits and the start in the others, and 4
// multipliers; the same of the odd channels.
//
// Cost, for 8 channels of two outputs, 144 products: 115 instructions with stride 1 and form LEAST, 99 of them vector
// instructions, 396 beats; with stride 2, 124 and 105, 420 beats. Form ANY takes 15 more, 12 of them vector instructions.
//
// All nine products fit into 16 bits: their sum is at most 9 * 2^7 * 2^3.
  CHANNEL_VECTORS cmsis_nn_delegate_channel_nibble_vectors, START, TAPS, SCALES, SCALES_AWAY

#endif
