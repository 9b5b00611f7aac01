// Products of int8 in lanes of 16 bits, two of which fit there, for two outputs of eight channels.
//
// Registers: q0 q1 sums of the even and the odd channels of the first output, q2 q3 of the second; q4 weights; q5 q6 sums of
// two products of both outputs in 16 bits; q7 inputs and products; r4 the place of the weights.
#pragma once

#ifdef __ASSEMBLER__
// clang-format off

// The first of two taps: both outputs.
.macro FIRST a, b
  vldrb.s16 q4, [r4], #8
  vldrb.s16 q7, \a
  vmul.i16 q5, q7, q4
  vldrb.s16 q7, \b
  vmul.i16 q6, q7, q4
.endm
// The second. If no `a` is given, it is what the first one has loaded last.
.macro SECOND a, b
  vldrb.s16 q4, [r4], #8
  .ifnb \a
  vldrb.s16 q7, \a
  .endif
  vmul.i16 q7, q7, q4
  vadd.i16 q5, q5, q7
  vldrb.s16 q7, \b
  vmul.i16 q7, q7, q4
  vadd.i16 q6, q6, q7
.endm
// Adds what q5 and q6 hold to the sums.
.macro WIDEN
  vmovlb.s16 q7, q5
  vadd.i32 q0, q0, q7
  vmovlt.s16 q7, q5
  vadd.i32 q1, q1, q7
  vmovlb.s16 q7, q6
  vadd.i32 q2, q2, q7
  vmovlt.s16 q7, q6
  vadd.i32 q3, q3, q7
.endm

// clang-format on
#endif
