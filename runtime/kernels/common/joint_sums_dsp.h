// What inner loops in assembly for DSP share whose weights are those of two channels in 16 bits.
#pragma once

#ifdef __ASSEMBLER__
// clang-format off

// Leaves the sums of every second channel in r4-r11 alone. They are 256 times as large and have those of the channel before
// in them; their own have 23 bits: JointBytes::separate() in pair_products.h.
.macro SEPARATE_EIGHT
  SEPARATE r4, r5
  SEPARATE r6, r7
  SEPARATE r8, r9
  SEPARATE r10, r11
.endm
.macro SEPARATE first, second
  sub \second, \second, \first
  asr \second, \second, #8
.endm

// clang-format on
#endif
