// How a row of pixels of four channels of int8 is widened to planes of int16, for channel_planes_dsp.S and
// channel_fives_dsp.S: see PlaneRow in channel_planes.h.
#pragma once

#include "runtime/kernels/common/channel_planes_members.h"

#ifdef __ASSEMBLER__
// clang-format off

// Stores two pixels of four channels, r4 and r5, as pairs of int16. r1 planes, r10 channel_bytes, r11 three times that.
// `together`: 1 if the planes of a pair of columns lie together, before those of the next pair.
.macro STORE_PAIR together
  sxtb16 r6, r4
  sxtb16 r7, r5
  sxtb16 r8, r4, ror #8
  sxtb16 r9, r5, ror #8
  pkhbt r4, r6, r7, lsl #16
  pkhbt r5, r8, r9, lsl #16
  pkhtb r6, r7, r6, asr #16
  pkhtb r8, r9, r8, asr #16
  str r4, [r1]
  str r5, [r1, r10]
  str r6, [r1, r10, lsl #1]
  str r8, [r1, r11]
  .if \together
  add r1, r1, r10, lsl #2
  .else
  add r1, r1, #4
  .endif
.endm

// void NAME(
//     const int8_t* row,   r0
//     int32_t* planes,     r1
//     const PlaneRow* p)   r2
//
// Register usage: r2 bytes of a pixel, r3 four times the padding, r4 r5 two pixels, r6-r9 their pairs, r10 r11 bytes to
// the second and fourth channel, r12 pairs left, lr whether a last pixel follows.
//
// Cost: 18 instructions for two pixels of four channels.
//
// Bounds: reads a word of each of first + 2 * pairs + last pixels, so its caller has at least four channels, and for the
// last ones begins with those before. Writes a word in each of four planes for first + pairs + last columns, which the
// caller has limited to those that a row of planes has. No more is read than the image has; ReadsPast is 0.
.macro FILL_PLANES name, together
  FUNCTION \name
  push {r4-r11, lr}
  NEIGHBOURS PLANE_ROW_PIXEL_BYTES, PLANE_ROW_CHANNEL_BYTES, PLANE_ROW_PADDING, PLANE_ROW_FIRST, PLANE_ROW_PAIRS, \
             PLANE_ROW_LAST
  ldm r2, {r2, r3, r4, r5, r12, lr}  // pixel_bytes, channel_bytes, padding, first, pairs, last
  mov r10, r3
  add r11, r3, r3, lsl #1
  mov r3, r4
  cbz r5, 2f
  ldr r5, [r0]
  add r0, r0, r2
  STORE_PAIR \together
2:
  cmp r12, #0
  beq 4f
3:
  ldr r4, [r0]
  ldr r5, [r0, r2]
  add r0, r0, r2, lsl #1
  subs r12, #1
  STORE_PAIR \together
  bne 3b
4:
  cmp lr, #0
  beq 5f
  ldr r4, [r0]
  mov r5, r3
  STORE_PAIR \together
5:
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

// clang-format on
#endif
