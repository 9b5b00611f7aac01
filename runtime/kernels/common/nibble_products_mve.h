// What inner loops in assembly for MVE share that multiply a vector of inputs with weights of 4 bits of eight channels.
#pragma once

#ifdef __ASSEMBLER__
// clang-format off

// The products of the inputs in q2 with the weights of 8 channels from r7 on, for the sums in r0 r2 r4 r6 r8 r10 r12
// lr: 16 instructions, all of them vector instructions, 64 beats, for 128 products of int8, 64 of int16. `load` takes
// `bytes` of weights, which VLDRB.S16 widens. A byte has 16 b + a + 8 for weights a and b of two channels. It is
// multiplied as it is, and b, which a shift leaves of it, for the sum of the second channel. `op` adds to sums, or
// begins them.
.macro NIBBLE_PRODUCTS load, bytes, op, type
  \load q0, [r7], #\bytes
  vshr.\type q1, q0, #4
  \op r0, q0, q2
  \load q3, [r7], #\bytes
  \op r2, q1, q2
  vshr.\type q1, q3, #4
  \op r4, q3, q2
  \load q0, [r7], #\bytes
  \op r6, q1, q2
  vshr.\type q1, q0, #4
  \op r8, q0, q2
  \load q3, [r7], #\bytes
  \op r10, q1, q2
  vshr.\type q1, q3, #4
  \op r12, q3, q2
  \op lr, q1, q2
.endm

// clang-format on
#endif
