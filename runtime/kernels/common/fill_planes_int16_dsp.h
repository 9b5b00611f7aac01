// How a row of pixels of four channels of int16 is put into planes, for channel_planes_int16_dsp.S and
// channel_fives_int16_dsp.S: see PlaneRow in channel_planes.h.
#pragma once

#include "runtime/kernels/common/channel_planes_members.h"

#ifdef __ASSEMBLER__
// clang-format off

// Stores two pixels of four channels, r4 r5 and r6 r7, as pairs. r1 planes, r10 channel_bytes, r11 three times that.
// `together`: 1 if the planes of a pair of columns lie together, before those of the next pair.
.macro STORE_PAIR together
  pkhbt r8, r4, r6, lsl #16
  pkhtb r9, r6, r4, asr #16
  pkhbt r4, r5, r7, lsl #16
  pkhtb r5, r7, r5, asr #16
  str r8, [r1]
  str r9, [r1, r10]
  str r4, [r1, r10, lsl #1]
  str r5, [r1, r11]
  .if \together
  add r1, r1, r10, lsl #2
  .else
  add r1, r1, #4
  .endif
.endm

// Loads four channels of the pixel at r0, and goes to the next one.
.macro LOAD_PIXEL low, high
  ldr \low, [r0]
  ldr \high, [r0, #4]
  add r0, r0, r2
.endm

// void NAME(
//     const int16_t* row,  r0
//     int32_t* planes,     r1
//     const PlaneRow* p)   r2
//
// Register usage: r2 bytes of a pixel, r4 r5 and r6 r7 two pixels, r8 r9 pairs, r10 r11 bytes to the second and fourth
// channel, r12 pairs left, lr whether a last pixel follows.
//
// Cost: 17 instructions for two pixels of four channels.
//
// Bounds: reads 8 bytes of each of first + 2 * pairs + last pixels, so its caller has at least four channels, and for
// the last ones begins with those before. Writes a word in each of four planes for first + pairs + last columns, which the
// caller has limited to those that a row of planes has. No more is read than the image has; ReadsPast is 0.
.macro FILL_PLANES name, together
  FUNCTION \name
  push {r4-r11, lr}
  NEIGHBOURS PLANE_ROW_PIXEL_BYTES, PLANE_ROW_CHANNEL_BYTES, PLANE_ROW_PADDING, PLANE_ROW_FIRST, PLANE_ROW_PAIRS, \
             PLANE_ROW_LAST
  ldm r2, {r2, r3, r4, r5, r12, lr}  // pixel_bytes, channel_bytes, padding (0), first, pairs, last
  mov r10, r3
  add r11, r3, r3, lsl #1
  cbz r5, 2f
  mov r4, #0
  mov r5, #0
  LOAD_PIXEL r6, r7
  STORE_PAIR \together
2:
  cmp r12, #0
  beq 4f
3:
  LOAD_PIXEL r4, r5
  LOAD_PIXEL r6, r7
  STORE_PAIR \together
  subs r12, #1
  bne 3b
4:
  cmp lr, #0
  beq 5f
  LOAD_PIXEL r4, r5
  mov r6, #0
  mov r7, #0
  STORE_PAIR \together
5:
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

// clang-format on
#endif
