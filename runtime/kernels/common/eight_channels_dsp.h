// What inner loops in assembly for DSP share that multiply inputs with the weights of eight channels.
#pragma once

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

// clang-format on
#endif
