// The inner loops of runtime/kernels/common/channel_planes_int16.h for Armv7E-M and Armv8-M with DSP.
//
// Planes are those of int8, which are widened to int16 there. Planes and table are 4-byte aligned; pixels of the image
// need not be, so loads of words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/channel_planes_loops_dsp.h"

  .syntax unified
  .thumb

// Shift, multiplier and correction: see PlaneScaleInt16 in channel_planes_int16.h.
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
// 34 instructions for four results, 47 with limits.
.macro REQUANTIZE_ANY
  strd r0, r1, [sp, #INPUTS_NOW]
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
  .if OUTPUT_NOW - INPUTS_NOW - 4
  .error "columns and outputs are saved together"
  .endif
  ldrd r0, r1, [sp, #INPUTS_NOW]
.endm

// void cmsis_nn_delegate_filter_planes_int16_stride1(   and _stride2
//     const PlaneRowsInt16* rows)   r0
//
// Register usage, layout and bounds are those of cmsis_nn_delegate_filter_planes_stride1: results take halves where those
// of int8 take bytes, and steps are in bytes for both. 5 words of the table are read for each channel; ReadsPast is 0.
//
// Cost, for two by two outputs of a channel, 36 products: 58 instructions with stride 1 and form FLOOR, 74 with ANY, 87
// with ANY and limits; with stride 2, 6 more.
  FILTER cmsis_nn_delegate_filter_planes_int16_stride1, SUMS1, KEEP1, CHANNEL_PLANES_CHANNEL1, COLUMN1, SCALE, \
         REQUANTIZE_FLOOR, REQUANTIZE_ANY, strh, 2
  FILTER cmsis_nn_delegate_filter_planes_int16_stride2, SUMS2, KEEP2, CHANNEL_PLANES_CHANNEL2, 2 * COLUMN2, SCALE, \
         REQUANTIZE_FLOOR, REQUANTIZE_ANY, strh, 2

// Stores two pixels of four channels, r4 r5 and r6 r7, as pairs. r1 planes, r10 channel_bytes, r11 three times that.
.macro STORE_PAIR
  pkhbt r8, r4, r6, lsl #16
  pkhtb r9, r6, r4, asr #16
  pkhbt r4, r5, r7, lsl #16
  pkhtb r5, r7, r5, asr #16
  str r8, [r1]
  str r9, [r1, r10]
  str r4, [r1, r10, lsl #1]
  str r5, [r1, r11]
  add r1, r1, r10, lsl #2
.endm

// Loads four channels of the pixel at r0, and goes to the next one.
.macro LOAD_PIXEL low, high
  ldr \low, [r0]
  ldr \high, [r0, #4]
  add r0, r0, r2
.endm

// void cmsis_nn_delegate_fill_planes_int16(
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
// the last ones begins with those before. Writes a word in each of four planes for first + pairs + last columns, which
// set_strip() has limited to those that a strip has. No more is read than the image has; ReadsPast is 0.
  .section .text.cmsis_nn_delegate_fill_planes_int16, "ax", %progbits
  .global cmsis_nn_delegate_fill_planes_int16
  .type cmsis_nn_delegate_fill_planes_int16, %function
  .thumb_func
  .balign 8
cmsis_nn_delegate_fill_planes_int16:
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
  STORE_PAIR
2:
  cmp r12, #0
  beq 4f
3:
  LOAD_PIXEL r4, r5
  LOAD_PIXEL r6, r7
  STORE_PAIR
  subs r12, #1
  bne 3b
4:
  cmp lr, #0
  beq 5f
  LOAD_PIXEL r4, r5
  mov r6, #0
  mov r7, #0
  STORE_PAIR
5:
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_fill_planes_int16, .-cmsis_nn_delegate_fill_planes_int16

#endif
