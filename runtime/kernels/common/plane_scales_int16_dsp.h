// How channel_planes_int16_dsp.S and channel_fives_int16_dsp.S requantize four sums of int16: see PlaneScaleInt16 in
// channel_planes_int16.h.
//
// The sums are r10 r11 r12 lr, and so are the results; r0-r3 take parameters. A file that includes this has defined
// before where on the stack these lie: SHIFT, MULTIPLIER and CORRECTION, one after the other; LIMITED; LEAST, with the other
// limit behind it. If INPUTS_KEPT is 1, r0 and r1 stay: they are kept at INPUTS_NOW meanwhile, with OUTPUT_NOW behind it.
#pragma once

#include "runtime/kernels/common/channel_planes_members.h"

#ifdef __ASSEMBLER__
// clang-format off

// Stores shift, multiplier and correction; r3 has the byte with the shift in its upper bits, r5 the multiplier. Leaves the
// word at SHIFT in r10, and changes r4, r6 and r7.
.macro SCALE
  lsr r6, r3, #24
  and r10, r6, #31
  sub r7, r10, #1
  mov r4, #1
  lsl r7, r4, r7
  tst r6, #FLOOR
  itt ne
  addne r7, r7, #1
  orrne r10, r10, #FLOOR_SHIFT
  strd r10, r5, [sp, #SHIFT]
  str r7, [sp, #CORRECTION]
.endm

// 18 instructions for four results.
.macro REQUANTIZE_FLOOR
  ldrd r2, r3, [sp, #MULTIPLIER]
  lsl r10, r10, #2
  lsl r11, r11, #2
  lsl r12, r12, #2
  lsl lr, lr, #2
  smmla r10, r10, r2, r3
  smmla r11, r11, r2, r3
  smmla r12, r12, r2, r3
  smmla lr, lr, r2, r3
  ldr r2, [sp, #SHIFT]
  asr r10, r10, r2
  asr r11, r11, r2
  asr r12, r12, r2
  asr lr, lr, r2
  usat r10, #15, r10
  usat r11, #15, r11
  usat r12, #15, r12
  usat lr, #15, lr
.endm

// SMLAL adds the product to the halves of both roundings, which are 2^31 less for a negative sum.
.macro SCALE_ANY sum
  and r0, \sum, #0x80000000
  orr r0, r0, #0x40000000
  add r1, r3, \sum, asr #31
  smlal r0, r1, \sum, r2
  mov \sum, r1
.endm
// 34 instructions for four results, 47 with limits; two fewer where inputs are not kept.
.macro REQUANTIZE_ANY
#if INPUTS_KEPT
  strd r0, r1, [sp, #INPUTS_NOW]
#endif
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
  ssat r10, #16, r10
  ssat r11, #16, r11
  ssat r12, #16, r12
  ssat lr, #16, lr
  cbz r2, 5f
  // Two at a time: SSUB16 sets two flags for each half whose difference is not negative, and SEL takes the first bytes
  // where they are set.
  ldrd r2, r3, [sp, #LEAST]
  pkhbt r10, r10, r11, lsl #16
  pkhbt r12, r12, lr, lsl #16
  ssub16 r0, r10, r2
  sel r10, r10, r2
  ssub16 r0, r3, r10
  sel r10, r10, r3
  ssub16 r0, r12, r2
  sel r12, r12, r2
  ssub16 r0, r3, r12
  sel r12, r12, r3
  lsr r11, r10, #16
  lsr lr, r12, #16
5:
#if INPUTS_KEPT
  .if OUTPUT_NOW - INPUTS_NOW - 4
  .error "columns and outputs are saved together"
  .endif
  ldrd r0, r1, [sp, #INPUTS_NOW]
#endif
.endm

// clang-format on
#endif
