// The inner loops of runtime/kernels/depthwise_conv2d/channel_columns.h for MVE.
//
// Two neighbouring vectors have five columns of six rows of a channel. VMLADAV multiplies each with weights of a window, and
// adds up: those of a window a row below lie in the table one byte before.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/depthwise_conv2d/channel_columns_members.h"

  .syntax unified
  .thumb

// Offsets in what the function keeps on the stack.
#define ZERO_POINT 0  // these two are loaded together
#define OUTPUT_STEP 4
#define LIMITS 8   // least, most
#define PLANE 16   // of the next channel, as the following three
#define OUTPUT 20
#define TABLE 24
#define CHANNELS 28  // that are left; loaded together with the next one
#define MASK 32
#define LAST 36
#define GROUPS 40  // these two are loaded together
#define PLANE_BYTES 44
#define LOCALS 48

// What a channel begins with: r1 plane, r3 output, r5 start, r7 multiplier, r9 shift, r11 groups; q0 q1 weights, q2 q3 those
// of a window a row below.
.macro CHANNEL stride
  ldrd r1, r3, [sp, #PLANE]
  ldrd r0, r6, [sp, #TABLE]
  ldrd r11, r2, [sp, #GROUPS]
  add r2, r2, r1
  add r4, r3, #1
  strd r2, r4, [sp, #PLANE]
  subs r6, r6, #1
  vldrb.8 q0, [r0, #3]
  vldrb.8 q1, [r0, #19]
  .if \stride == 1
  vldrb.8 q2, [r0, #2]
  vldrb.8 q3, [r0, #18]
  .endif
  ldrd r4, r7, [r0, #36]
  add r0, r0, #44
  strd r0, r6, [sp, #TABLE]
  sbfx r9, r4, #0, #6
  asr r5, r4, #6
.endm

// The sums of the windows whose first column lies `at` bytes behind r1.
.macro TWO_ROWS first, second, at
  vldrb.8 q4, [r1, #\at]
  vmladav.s8 \first, q4, q0
  vldrb.8 q5, [r1, #\at + 16]
  vmladav.s8 \second, q4, q2
  vmladava.s8 \first, q5, q1
  vmladava.s8 \second, q5, q3
.endm
.macro ONE_ROW first, second, at
  vldrb.8 q4, [r1, #\at]
  vmladav.s8 \first, q4, q0
  vldrb.8 q5, [r1, #\at + 16]
  vmladava.s8 \first, q5, q1
  vldrb.8 q4, [r1, #\at + 12]
  vmladav.s8 \second, q4, q0
  vldrb.8 q5, [r1, #\at + 28]
  vmladava.s8 \second, q5, q1
.endm
// The sums of a group, into r4 r6 r8 r10 for even outputs and r0 r2 r12 lr for odd ones.
.macro PRODUCTS stride
  .if \stride == 1
  TWO_ROWS r4, r0, 0
  TWO_ROWS r6, r2, 6
  TWO_ROWS r8, r12, 12
  TWO_ROWS r10, lr, 18
  .else
  ONE_ROW r4, r0, 0
  ONE_ROW r6, r2, 24
  ONE_ROW r8, r12, 48
  ONE_ROW r10, lr, 72
  .endif
.endm

// Requantizes the sums of a group and stores its outputs. Leaves the step to the output of the next one in r2. With `any`,
// for form ANY, halves below zero go away from zero.
.macro RESULTS any
  vmov q4[2], q4[0], r4, r8
  vmov q4[3], q4[1], r6, r10
  vmov q5[2], q5[0], r0, r12
  vmov q5[3], q5[1], r2, lr
  vadd.i32 q4, q4, r5
  vadd.i32 q5, q5, r5
  vqrdmulh.s32 q4, q4, r7
  vqrdmulh.s32 q5, q5, r7
  .if \any
  vshr.s32 q7, q4, #31
  vadd.i32 q4, q4, q7
  vshr.s32 q7, q5, #31
  vadd.i32 q5, q5, q7
  .endif
  vrshl.s32 q4, r9
  vrshl.s32 q5, r9
  ldrd r0, r2, [sp, #ZERO_POINT]
  vqmovnb.s32 q4, q4
  vqmovnt.s32 q4, q5
  vqadd.s16 q4, q4, r0
  .if \any
  ldrd r6, r8, [sp, #LIMITS]
  vdup.16 q5, r6
  vmax.s16 q4, q4, q5
  vdup.16 q5, r8
  vmin.s16 q4, q4, q5
  .else
  vqmovnb.s16 q4, q4
  .endif
  vpst
  vstrbt.16 q4, [r3, q6]
.endm

// The channels of a band.
.macro CHANNELS_OF_BAND stride, any
1:  // a channel
  CHANNEL \stride
  cmp r11, #0
  beq 3f
2:  // a group of outputs
  PRODUCTS \stride
  RESULTS \any
  add r1, r1, #24 * \stride * \stride
  add r3, r3, r2
  subs r11, r11, #1
  bgt 2b
  bmi 4f
3:  // the last one
  ldr r0, [sp, #LAST]
  vmsr p0, r0
  b 2b
4:
  ldrd r6, r0, [sp, #CHANNELS]
  vmsr p0, r0
  cmp r6, #0
  bne 1b
.endm

// void cmsis_nn_delegate_channel_columns_stride1(
//     const ColumnBand* band)   r0
// void cmsis_nn_delegate_channel_columns_stride2(
//     const ColumnBand* band)   r0
//
// Register usage
//   Plane     r1; q4 q5 vectors of it
//   Output    r3; q6 offsets of the eight, P0 which of them are stored
//   Weights   q0 q1, with stride 1 q2 q3 for the second row of outputs
//   Sums      r4 r6 r8 r10 even outputs, r0 r2 r12 lr odd ones; then in the lanes of q4 and q5
//   Scales    r5 start, r7 multiplier, r9 shift
//   Groups    r11
//
// Layout of the table: see ColumnBand.
//
// Cost, for the eight outputs of a group with form LEAST: 45 instructions with stride 1, 40 of them vector instructions, 160
// beats; 53 with stride 2, 192 beats; with form ANY 8 more; 27 once for a channel of a band, 25 with stride 2.
//
// Bounds: reads planes up to two bytes behind the fifth column of the last window of a group, also of outputs that are not
// stored: their sums are computed from whatever lies there, and the caller has room behind the last plane. Reads 44 bytes of
// the table for each of `channels`. Stores the outputs whose bits are set in `mask`, of the last group in `last`.
.macro CHANNEL_COLUMNS name, stride
  FUNCTION \name
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  NEIGHBOURS COLUMN_BAND_PLANES, COLUMN_BAND_TABLE, COLUMN_BAND_OUTPUT, COLUMN_BAND_CHANNELS, COLUMN_BAND_GROUPS, \
             COLUMN_BAND_PLANE_BYTES, COLUMN_BAND_OUTPUT_STEP, COLUMN_BAND_ZERO_POINT, COLUMN_BAND_LEAST, \
             COLUMN_BAND_MOST, COLUMN_BAND_FORM, COLUMN_BAND_MASK, COLUMN_BAND_LAST
  .if COLUMN_BAND_PLANES
  .error "members are loaded from the beginning of the struct"
  .endif
  vldrw.32 q6, [r0, #COLUMN_BAND_OFFSETS]
  ldm r0!, {r1-r8}
  strd r1, r3, [sp, #PLANE]
  strd r2, r4, [sp, #TABLE]
  strd r5, r6, [sp, #GROUPS]
  strd r8, r7, [sp, #ZERO_POINT]
  ldm r0, {r1-r5}  // from `least` on
  strd r1, r2, [sp, #LIMITS]
  strd r4, r5, [sp, #MASK]
  vmsr p0, r4
  cmp r3, #0
  beq .Lany\@
  CHANNELS_OF_BAND \stride, 0
  b 9f
.Lany\@:
  CHANNELS_OF_BAND \stride, 1
9:
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

  CHANNEL_COLUMNS cmsis_nn_delegate_channel_columns_stride1, 1
  CHANNEL_COLUMNS cmsis_nn_delegate_channel_columns_stride2, 2

// void cmsis_nn_delegate_advance_columns(
//     const ColumnRows* rows)   r0
//
// Register usage
//   Planes   r1; q1 q2 places of the fifth and the sixth row of eight channels, P0 which of them there are
//   Rows     r4 r5, r6 r7 steps
//   Columns  r8 left, r9 inside, r10 right
//   q0 inputs, q3 padding
//
// Cost: 3 instructions for each of `vectors`; 9 for a column of both rows, 5 for one of padding; 25 once.
//
// Bounds: reads 2 bytes behind `vectors`, and `channels` bytes, 1 to 8, of each of `inside` pixels of both rows: others are
// predicated. Writes `vectors`, and the two rows.
  FUNCTION cmsis_nn_delegate_advance_columns
  push {r4-r11, lr}
  NEIGHBOURS COLUMN_ROWS_PLANES, COLUMN_ROWS_PLANE_BYTES, COLUMN_ROWS_VECTORS, COLUMN_ROWS_ROWS
  NEIGHBOURS COLUMN_ROWS_LEFT, COLUMN_ROWS_INSIDE, COLUMN_ROWS_RIGHT, COLUMN_ROWS_CHANNELS, COLUMN_ROWS_PADDING
  .if COLUMN_ROWS_PLANES || COLUMN_ROWS_STEPS != COLUMN_ROWS_ROWS + 8 || COLUMN_ROWS_LEFT != COLUMN_ROWS_STEPS + 8
  .error "members are loaded from the beginning of the struct"
  .endif
  ldm r0!, {r1-r7}
  ldm r0, {r8-r12}
  mov r0, r1
  cbz r3, 2f
  dls lr, r3
1:
  vldrb.8 q0, [r0, #2]
  vstrb.8 q0, [r0], #16
  le lr, 1b
2:
  mov r0, #0
  vidup.u16 q1, r0, #1
  vmul.i16 q1, q1, r2
  mov r3, #4
  vadd.i16 q1, q1, r3
  mov r3, #1
  vadd.i16 q2, q1, r3
  vdup.16 q3, r12
  vctp.16 r11
  cmp r8, #0
  beq 4f
  dls lr, r8
3:
  vpstt
  vstrbt.16 q3, [r1, q1]
  vstrbt.16 q3, [r1, q2]
  add r1, r1, #6
  le lr, 3b
4:
  cmp r9, #0
  beq 6f
  dls lr, r9
5:
  vpstttt
  vldrbt.u16 q0, [r4]
  vstrbt.16 q0, [r1, q1]
  vldrbt.u16 q0, [r5]
  vstrbt.16 q0, [r1, q2]
  add r4, r4, r6
  add r5, r5, r7
  add r1, r1, #6
  le lr, 5b
6:
  cmp r10, #0
  beq 8f
  dls lr, r10
7:
  vpstt
  vstrbt.16 q3, [r1, q1]
  vstrbt.16 q3, [r1, q2]
  add r1, r1, #6
  le lr, 7b
8:
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_advance_columns, .-cmsis_nn_delegate_advance_columns

#endif
