// The inner loops of runtime/kernels/common/channel_planes.h for Armv7E-M and Armv8-M with DSP.
//
// Planes and table are 4-byte aligned; pixels of the image need not be, so loads of words have to be allowed to be
// unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/channel_planes_loops_dsp.h"
#include "runtime/kernels/common/plane_scales_dsp.h"

  .syntax unified
  .thumb

// void cmsis_nn_delegate_filter_planes_stride1(   and _stride2
//     const PlaneRows* rows)   r0
//
// Register usage
//   Columns   r0
//   Outputs   r1
//   Inputs    r2 r3              parameters where results are computed and stored
//   Weights   r4 r6 r8 (0, 1)    of the first, second and third row of the filter
//             r5 r7 r9 (1, 2)
//   Sums      r10 r11            first row of outputs, left and right
//             r12 lr             second row
//   All else lies on the stack, where PlaneRows is copied to.
//
// Layout: see channel_planes.h. A word of a plane has two neighbouring columns of a row, the 4 or 5 rows of a channel lie
// together, then come the channels of the column, then the next column.
//
// Cost, for two by two outputs of a channel, 36 products: 54 instructions with stride 1 and form FLOOR, 66 with ANY, 77
// with ANY and limits; with stride 2, 6 more.
//
// Bounds: pairs begin in columns 0 to `pairs_bytes`, and where `last` is set one more begins there. Each reads its own
// word of a row and the next one, or the next two with stride 2, which are the (pairs + last) * stride + 1 words that
// depthwise_conv2d_planes_scratch_bytes() has counted; rows that are moved to the front lie in the same words. Without a
// second row of outputs its inputs are read all the same, from planes that are there, and its results are overwritten:
// steps of 0 put them where those of the first row go, which are stored last, and the same is true of the right one of
// a single last output. 5 words of the table are read for each of `channels`, as many as it has; ReadsPast is 0.
  FILTER cmsis_nn_delegate_filter_planes_stride1, SUMS1, KEEP1, CHANNEL_PLANES_CHANNEL1, COLUMN1, SCALE, REQUANTIZE_FLOOR, \
         REQUANTIZE_ANY, strb, 1
  FILTER cmsis_nn_delegate_filter_planes_stride2, SUMS2, KEEP2, CHANNEL_PLANES_CHANNEL2, 2 * COLUMN2, SCALE, REQUANTIZE_FLOOR, \
         REQUANTIZE_ANY, strb, 1

// Stores two pixels of four channels, r4 and r5, as pairs of int16. r1 planes, r10 channel_bytes, r11 three times that.
.macro STORE_PAIR
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
  add r1, r1, r10, lsl #2
.endm

// void cmsis_nn_delegate_fill_planes(
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
// last ones begins with those before. Writes a word in each of four planes for first + pairs + last columns, which
// set_strip() has limited to those that a strip has. No more is read than the image has; ReadsPast is 0.
  .section .text.cmsis_nn_delegate_fill_planes, "ax", %progbits
  .global cmsis_nn_delegate_fill_planes
  .type cmsis_nn_delegate_fill_planes, %function
  .thumb_func
  .balign 8
cmsis_nn_delegate_fill_planes:
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
  STORE_PAIR
2:
  cmp r12, #0
  beq 4f
3:
  ldr r4, [r0]
  ldr r5, [r0, r2]
  add r0, r0, r2, lsl #1
  subs r12, #1
  STORE_PAIR
  bne 3b
4:
  cmp lr, #0
  beq 5f
  ldr r4, [r0]
  mov r5, r3
  STORE_PAIR
5:
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_fill_planes, .-cmsis_nn_delegate_fill_planes

#endif
