// How channel_planes_dsp.S and channel_lines_dsp.S requantize four sums of int8: see PlaneScale in channel_planes.h.
//
// The sums are r10 r11 r12 lr, and so are the results; r2 and r3 take parameters. A file that includes this has
// defined before where on the stack these lie: SHIFT, MULTIPLIER and CORRECTION, one after the other; HALF_STEPS and LIMITED;
// LEAST, with the other limit behind it; INPUTS_NOW, where r0 is kept meanwhile.
#pragma once

#include "runtime/kernels/common/channel_planes_members.h"

#ifdef __ASSEMBLER__
// clang-format off

// Stores shift, multiplier and correction; r3 has the byte with the shift in its upper bits, r5 the multiplier. Leaves the
// word at SHIFT in r10, and changes r6 and r7.
.macro SCALE
  lsr r6, r3, #24
  and r10, r6, #31
  tst r6, #FLOOR
  beq 7f
  sub r6, r6, #FLOOR + 2
  movs r7, #1
  lsl r7, r7, r6
  sub r7, r7, #(128 << 12) - (1 << 11)
  orr r10, r10, #FLOOR_SHIFT
  b 8f
7:
  ldr r7, [sp, #HALF_STEPS]
  sub r6, r10, #1
  lsl r7, r7, r6
8:
  strd r10, r5, [sp, #SHIFT]
  str r7, [sp, #CORRECTION]
.endm

.macro REQUANTIZE_FLOOR
  ldrd r2, r3, [sp, #SHIFT]
  lsl r10, r10, r2
  lsl r11, r11, r2
  lsl r12, r12, r2
  lsl lr, lr, r2
  ldr r2, [sp, #CORRECTION]
  smmla r10, r10, r3, r2
  smmla r11, r11, r3, r2
  smmla r12, r12, r3, r2
  smmla lr, lr, r3, r2
  ssat r10, #8, r10, asr #12
  ssat r11, #8, r11, asr #12
  ssat r12, #8, r12, asr #12
  ssat lr, #8, lr, asr #12
.endm

.macro SCALE_ANY sum
  lsl \sum, \sum, #1
  smmlar r0, \sum, r2, r3
  add \sum, r0, \sum, asr #31
.endm
.macro REQUANTIZE_ANY
  str r0, [sp, #INPUTS_NOW]
  ldrd r2, r3, [sp, #MULTIPLIER]
  SCALE_ANY r10
  SCALE_ANY r11
  SCALE_ANY r12
  SCALE_ANY lr
  ldr r2, [sp, #SHIFT]
  asr r10, r10, r2
  asr r11, r11, r2
  asr r12, r12, r2
  asr lr, lr, r2
  ldr r2, [sp, #LIMITED]
  ssat r10, #8, r10
  ssat r11, #8, r11
  ssat r12, #8, r12
  ssat lr, #8, lr
  cbz r2, 5f
  // All four at a time: SSUB8 sets a flag for each byte whose difference is not negative, and SEL takes the
  // first byte where it is set.
  ldrd r2, r3, [sp, #LEAST]
  bfi r10, r11, #8, #8
  bfi r10, r12, #16, #8
  bfi r10, lr, #24, #8
  ssub8 r0, r10, r2
  sel r10, r10, r2
  ssub8 r0, r3, r10
  sel r10, r10, r3
  lsr r11, r10, #8
  lsr r12, r10, #16
  lsr lr, r10, #24
5:
  ldr r0, [sp, #INPUTS_NOW]
.endm

// clang-format on
#endif
