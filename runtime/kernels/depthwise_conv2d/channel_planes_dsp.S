// The inner loops of runtime/kernels/depthwise_conv2d/channel_planes.h for Armv7E-M and Armv8-M with DSP.
//
// Two by two outputs of a channel are computed at a time. The nine weights stay in six registers, as pairs
// (0, 1) and (1, 2) of each row of the filter, so that every pair of inputs takes one or two instructions an output.
// Planes and table are 4-byte aligned; pixels of the image need not be, so loads of words have to be allowed to be
// unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/depthwise_conv2d/channel_planes_members.h"

  .syntax unified
  .thumb

// The stack while a function runs. The sum for inputs of 0 is there four times, for LDM.
#define START 0
#define SHIFT 16
#define MULTIPLIER 20
#define CORRECTION 24
#define PAIRS_END 28
#define COLUMN_BYTES_NOW 32
#define ROW_BYTES 36
#define PLANES 40
#define OUTPUT 44
#define TABLE 48
#define CHANNELS 52
#define COLUMN_BYTES 56
#define PAIRS_BYTES 60
#define LAST 64
#define LIMITED 68
#define LEAST 72
#define HALF_STEPS 80
#define INPUTS_NOW 84
#define STACK_BYTES 92  // with the saved registers, a multiple of 8

// Set in the byte with the shift of a channel of form FLOOR, and in the word at SHIFT; shifts take its lowest 8 bits.
#define FLOOR 32
#define FLOOR_SHIFT 256

// Registers of the macros below: r0 columns of inputs, r1 outputs, r2 r3 inputs or parameters, r4-r9 weights,
// r10 r11 sums of the first row, r12 lr of the second.

// What one row of inputs adds to the two sums of one row of outputs; w0 has the weights (0, 1), w1 has (1, 2).
.macro LEFT1 in, w0, a, b
  smlad \a, \in, \w0, \a
  smlatb \b, \in, \w0, \b
.endm
.macro RIGHT1 in, w1, a, b
  smlabt \a, \in, \w1, \a
  smlad \b, \in, \w1, \b
.endm
.macro LEFT2 in, w0, a
  smlad \a, \in, \w0, \a
.endm
.macro MIDDLE2 in, w0, w1, a, b
  smlabt \a, \in, \w1, \a
  smlad \b, \in, \w0, \b
.endm
.macro RIGHT2 in, w1, b
  smlabt \b, \in, \w1, \b
.endm

// Sums from four rows of inputs; rows 2 and 3 become rows 0 and 1.
#define COLUMN1 CHANNEL_PLANES_COLUMN1
.macro SUMS1
  ldm sp, {r10, r11, r12, lr}
  ldrd r2, r3, [r0]
  LEFT1 r2, r4, r10, r11
  LEFT1 r3, r6, r10, r11
  LEFT1 r3, r4, r12, lr
  ldrd r2, r3, [r0, #COLUMN1]
  RIGHT1 r2, r5, r10, r11
  RIGHT1 r3, r7, r10, r11
  RIGHT1 r3, r5, r12, lr
  ldrd r2, r3, [r0, #COLUMN1 + 8]
  RIGHT1 r2, r9, r10, r11
  RIGHT1 r2, r7, r12, lr
  RIGHT1 r3, r9, r12, lr
  ldrd r2, r3, [r0, #8]
  LEFT1 r2, r8, r10, r11
  LEFT1 r2, r6, r12, lr
  LEFT1 r3, r8, r12, lr
  strd r2, r3, [r0], #COLUMN1
.endm
.macro KEEP1
  ldrd r2, r3, [r0, #8]
  strd r2, r3, [r0]
.endm

// Sums from five rows of inputs; row 4 becomes row 0.
#define COLUMN2 CHANNEL_PLANES_COLUMN2
.macro SUMS2
  ldm sp, {r10, r11, r12, lr}
  ldrd r2, r3, [r0, #2 * COLUMN2]
  RIGHT2 r2, r5, r11
  RIGHT2 r3, r7, r11
  ldrd r2, r3, [r0, #2 * COLUMN2 + 8]
  RIGHT2 r2, r9, r11
  RIGHT2 r2, r5, lr
  RIGHT2 r3, r7, lr
  ldrd r2, r3, [r0, #COLUMN2]
  MIDDLE2 r2, r4, r5, r10, r11
  MIDDLE2 r3, r6, r7, r10, r11
  ldrd r2, r3, [r0, #COLUMN2 + 8]
  MIDDLE2 r2, r8, r9, r10, r11
  MIDDLE2 r2, r4, r5, r12, lr
  MIDDLE2 r3, r6, r7, r12, lr
  ldr r2, [r0, #COLUMN2 + 16]
  ldr r3, [r0, #2 * COLUMN2 + 16]
  MIDDLE2 r2, r8, r9, r12, lr
  RIGHT2 r3, r9, lr
  str r2, [r0, #COLUMN2]
  ldrd r2, r3, [r0]
  LEFT2 r2, r4, r10
  LEFT2 r3, r6, r10
  ldrd r2, r3, [r0, #8]
  LEFT2 r2, r8, r10
  LEFT2 r2, r4, r12
  LEFT2 r3, r6, r12
  ldr r2, [r0, #16]
  LEFT2 r2, r8, r12
  str r2, [r0], #2 * COLUMN2
.endm
.macro KEEP2
  ldr r2, [r0, #16]
  str r2, [r0]
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

// Where there is no second column or row, its step is 0 and what is stored first is overwritten.
.macro STORE loop
  ldrd r2, r3, [sp, #COLUMN_BYTES_NOW]
  add r3, r3, r1
  strb lr, [r3, r2]
  strb r12, [r3]
  strb r11, [r1, r2]
  strb r10, [r1]
  add r1, r1, r2, lsl #1
  ldr r2, [sp, #PAIRS_END]
  cmp r0, r2
  bne \loop
.endm

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
.macro FILTER name, sums, keep, channel_bytes, pair_bytes
  .section .text.\name, "ax", %progbits
  .global \name
  .type \name, %function
  .thumb_func
  .balign 8
\name:
  push {r4-r11, lr}
  NEIGHBOURS PLANE_ROWS_PLANES, PLANE_ROWS_OUTPUT, PLANE_ROWS_TABLE, PLANE_ROWS_CHANNELS, PLANE_ROWS_COLUMN_BYTES, \
             PLANE_ROWS_ROW_BYTES, PLANE_ROWS_PAIRS_BYTES, PLANE_ROWS_LAST, PLANE_ROWS_LIMITED, PLANE_ROWS_LEAST, \
             PLANE_ROWS_MOST, PLANE_ROWS_HALF_STEPS, PLANE_ROWS_BYTES
  ldm r0, {r1-r12}
  sub sp, #STACK_BYTES
  // r1 planes, r2 output, r3 table, r4 channels, r5 column_bytes, r6 row_bytes, r7 pairs_bytes, r8 last, r9 limited,
  // r10 least, r11 most, r12 half_steps
  str r6, [sp, #ROW_BYTES]
  add r6, sp, #PLANES
  stm r6!, {r1-r5}
  stm r6, {r7-r12}
1:  // a channel
  ldr r0, [sp, #TABLE]
  ldm r0!, {r1-r5}
  str r0, [sp, #TABLE]
  strd r4, r4, [sp, #START]
  strd r4, r4, [sp, #START + 8]
  // Shift, multiplier and correction: see PlaneScale in channel_planes.h.
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
  // The word of the last row has the weights 0, 1, 2 where those of the others have 0, 1, 1, 2.
  sxtb16 r4, r1
  sxtb16 r5, r1, ror #8
  sxtb16 r6, r2
  sxtb16 r7, r2, ror #8
  sxtb16 r1, r3
  sxtb16 r9, r3, ror #8
  pkhbt r8, r1, r9, lsl #16
  pkhbt r9, r9, r1
  ldrd r0, r1, [sp, #PLANES]
  ldrd r2, r3, [sp, #COLUMN_BYTES]
  str r2, [sp, #COLUMN_BYTES_NOW]
  add r2, r0, r3
  str r2, [sp, #PAIRS_END]
  cmp r3, #0
  beq 4f
  tst r10, #FLOOR_SHIFT
  beq 3f
2:
  \sums
  REQUANTIZE_FLOOR
  STORE 2b
  b 4f
3:
  \sums
  REQUANTIZE_ANY
  STORE 3b
4:
  ldr r2, [sp, #LAST]
  ldr r3, [sp, #COLUMN_BYTES_NOW]
  cbz r2, 6f
  cbz r3, 6f
  movs r3, #0
  str r3, [sp, #COLUMN_BYTES_NOW]
  add r2, r0, #\pair_bytes
  str r2, [sp, #PAIRS_END]
  ldr r3, [sp, #SHIFT]
  tst r3, #FLOOR_SHIFT
  bne 2b
  b 3b
6:
  \keep
  ldrd r0, r1, [sp, #PLANES]
  ldr r2, [sp, #CHANNELS]
  adds r0, #\channel_bytes
  adds r1, #1
  strd r0, r1, [sp, #PLANES]
  subs r2, #1
  str r2, [sp, #CHANNELS]
  bne 1b
  add sp, #STACK_BYTES
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

  FILTER cmsis_nn_delegate_filter_planes_stride1, SUMS1, KEEP1, CHANNEL_PLANES_CHANNEL1, COLUMN1
  FILTER cmsis_nn_delegate_filter_planes_stride2, SUMS2, KEEP2, CHANNEL_PLANES_CHANNEL2, 2 * COLUMN2

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
