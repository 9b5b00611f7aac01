// How results of int8 follow from requantized sums of two outputs of eight channels.
#pragma once

#ifdef __ASSEMBLER__
// clang-format off

// Narrows q0 q1, even and odd channels of the first output, and q2 q3 of the second, to 16 bits in q0 and q2.
.macro NARROW zero_point
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  vqmovnb.s32 q2, q2
  vqmovnt.s32 q2, q3
  vqadd.s16 q0, q0, \zero_point
  vqadd.s16 q2, q2, \zero_point
.endm

// clang-format on
#endif
