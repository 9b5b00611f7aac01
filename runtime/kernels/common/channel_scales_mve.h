// How loops for MVE that compute four channels of two outputs requantize their sums.
#pragma once

#ifdef __ASSEMBLER__
// clang-format off

// Requantizes sums of four channels of both outputs: q4 multipliers, q5 shifts, which r4 points to.
.macro SCALE a, b
  vldrw.32 q4, [r4], #16
  vldrw.32 q5, [r4], #16
  vqrdmulh.s32 \a, \a, q4
  vqrdmulh.s32 \b, \b, q4
  vrshl.s32 \a, \a, q5
  vrshl.s32 \b, \b, q5
.endm
// The same with halves below zero away from zero; q6 and q7 are lost.
.macro SCALE_AWAY a, b
  vldrw.32 q4, [r4], #16
  vldrw.32 q5, [r4], #16
  vqrdmulh.s32 \a, \a, q4
  vqrdmulh.s32 \b, \b, q4
  vshr.s32 q6, \a, #31
  vshr.s32 q7, \b, #31
  vadd.i32 \a, \a, q6
  vadd.i32 \b, \b, q7
  vrshl.s32 \a, \a, q5
  vrshl.s32 \b, \b, q5
.endm

// clang-format on
#endif
