// What inner loops in assembly for MVE share that compute functions of gates, four numbers at a time: see gate_lines.h.
#pragma once

#ifdef __ASSEMBLER__
// clang-format off

// q0 = start + q0 * step of the lines whose numbers are in q1; `starts` and `steps` are registers with the tables; q2 and
// q3 are temporary.
.macro LINES starts, steps
  vldrw.u32 q2, [\starts, q1, uxtw #2]
  vldrh.u32 q3, [\steps, q1, uxtw #1]
  vmul.i32 q0, q0, q3
  vadd.i32 q0, q0, q2
.endm

// q0 = tanh of q0, three times an argument with 12 bits after the point, of 31 bits; 256 and 0x01000100 are in registers; q1 to
// q3 are temporary.
.macro TANH starts, steps, zero, half
  vqshl.s32 q0, q0, #15
  vshr.s32 q1, q0, #23
  vshr.s32 q0, q0, #14
  vadd.i32 q1, q1, \zero
  LINES \starts, \steps
  vsub.i32 q0, q0, \half
  vshr.s32 q0, q0, #9
.endm

// Requantizes q as the registers say, the words of a GateScale: a shift to the left, the multiplier, whether halves go
// away from zero, a shift to the right. `temporary` is a vector.
.macro REQUANTIZE q, temporary, left, multiplier, away, right
  vshl.s32 \q, \left
  vqrdmulh.s32 \q, \q, \multiplier
  vshr.s32 \temporary, \q, #31
  vmla.s32 \q, \temporary, \away
  vrshl.s32 \q, \right
.endm

// Limits the numbers of q to 16 bits.
.macro SATURATE q
  vqmovnb.s32 \q, \q
  vmovlb.s16 \q, \q
.endm

// clang-format on
#endif
