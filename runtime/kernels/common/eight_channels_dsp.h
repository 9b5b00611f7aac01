// What inner loops in assembly for DSP share that multiply inputs with the weights of eight channels.
#pragma once

#include "runtime/kernels/common/joint_sums_dsp.h"

#ifdef __ASSEMBLER__
// clang-format off

// Multiplies the pair of inputs in r3 with the weights of eight channels, from r1; r4-r11 are the sums. 18 instructions for 16
// products; r2, r12 and lr are temporary.
.macro EIGHT_CHANNELS
  ldrd r12, lr, [r1], #16
  sxtb16 r2, r12
  sxtb16 r12, r12, ror #8
  smlad r4, r3, r2, r4
  smlad r5, r3, r12, r5
  sxtb16 r2, lr
  sxtb16 lr, lr, ror #8
  smlad r6, r3, r2, r6
  smlad r7, r3, lr, r7
  ldrd r12, lr, [r1, #-8]
  sxtb16 r2, r12
  sxtb16 r12, r12, ror #8
  smlad r8, r3, r2, r8
  smlad r9, r3, r12, r9
  sxtb16 r2, lr
  sxtb16 lr, lr, ror #8
  smlad r10, r3, r2, r10
  smlad r11, r3, lr, r11
.endm

// The same with 256 times the weights of a channel and those of the channel before in 16 bits, for SEPARATE_EIGHT: 14
// instructions; r12 and lr are temporary.
.macro EIGHT_JOINT
  FOUR_JOINT r4, r5, r6, r7
  FOUR_JOINT r8, r9, r10, r11
.endm
.macro FOUR_JOINT a, b, c, d
  ldm r1!, {r12, lr}
  smlad \b, r3, r12, \b
  sxtb16 r12, r12
  smlad \d, r3, lr, \d
  sxtb16 lr, lr
  smlad \a, r3, r12, \a
  smlad \c, r3, lr, \c
.endm

// Both halves of the weights of 4 bits of a channel.
#define NIBBLES_MASK 0x000F000F

// The same with weights of 4 bits, 8 more than they are, and NIBBLES_MASK in lr; r2 and r12 are temporary.
.macro EIGHT_NIBBLES
  ldr r12, [r1], #4
  and r2, lr, r12
  smlad r4, r3, r2, r4
  and r2, lr, r12, lsr #4
  smlad r5, r3, r2, r5
  and r2, lr, r12, lsr #8
  smlad r6, r3, r2, r6
  and r2, lr, r12, lsr #12
  smlad r7, r3, r2, r7
  ldr r12, [r1], #4
  and r2, lr, r12
  smlad r8, r3, r2, r8
  and r2, lr, r12, lsr #4
  smlad r9, r3, r2, r9
  and r2, lr, r12, lsr #8
  smlad r10, r3, r2, r10
  and r2, lr, r12, lsr #12
  smlad r11, r3, r2, r11
.endm

// clang-format on
#endif
