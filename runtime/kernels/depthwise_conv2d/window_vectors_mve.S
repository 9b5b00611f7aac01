// The inner loops of runtime/kernels/depthwise_conv2d/window_vectors.h for MVE.
//
// A vector has four rows of four columns of a channel. VMLADAV multiplies it with the nine weights of a window, which lie in
// it in as many ways as there are windows in it: four.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/depthwise_conv2d/window_vectors_members.h"

  .syntax unified
  .thumb

// Offsets in what the function keeps on the stack.
#define ZERO_POINT 0  // these two are loaded together
#define OUTPUT_STEP 4
#define LIMITS 8    // least, most
#define COLUMNS 16  // of the next channel, less a step, as the following two
#define OUTPUT 20
#define TABLE 24  // eight bytes before its weights
#define GROUPS 28
#define REST 32
#define MASK 36
#define PLACES 40
#define OFFSETS 56
#define LOCALS 72

// From a vector of four columns to the next one, of which the first two are the last two of the one before.
#define STEP 128

// What a channel begins with: q2 the addresses of its first vector less a step, r3 output, r5 start, r7 multiplier, r9
// shift, r11 groups; q4 its weights for the window that begins with a vector, q5 for the one a row below, q6 and q7 for
// those a column behind them. r11 is 0 before.
.macro CHANNEL
  ldrd r2, r3, [sp, #COLUMNS]
  ldr r0, [sp, #TABLE]
  vldrw.32 q2, [sp, #PLACES]
  vadd.i32 q2, q2, r2
  add r2, r2, #4
  add r4, r3, #1
  strd r2, r4, [sp, #COLUMNS]
  vldrw.32 q6, [r0, #8]
  vldrw.32 q4, [r0, #12]
  ldrd r4, r7, [r0, #24]!
  str r0, [sp, #TABLE]
  vshl.i32 q7, q6, #8
  vmov.32 q4[3], r11
  sbfx r9, r4, #0, #6
  vshl.i32 q5, q4, #8
  asr r5, r4, #6
  ldr r11, [sp, #GROUPS]
.endm

// The sums of a group, into r4 r6 r8 r10 for its first row and r0 r2 r12 lr for the second.
.macro PRODUCTS
  vldrw.u32 q0, [q2, #STEP]!
  vmladav.s8 r4, q0, q4
  vmladav.s8 r6, q0, q6
  vldrw.u32 q1, [q2, #STEP]!
  vmladav.s8 r0, q0, q5
  vmladav.s8 r2, q0, q7
  vmladav.s8 r8, q1, q4
  vmladav.s8 r10, q1, q6
  vmladav.s8 r12, q1, q5
  vmladav.s8 lr, q1, q7
.endm
// Of two columns alone: the other four sums are whatever they were, and not stored.
.macro HALF_PRODUCTS
  vldrw.u32 q0, [q2, #STEP]!
  vmladav.s8 r4, q0, q4
  vmladav.s8 r6, q0, q6
  vmladav.s8 r0, q0, q5
  vmladav.s8 r2, q0, q7
.endm

// Requantizes the sums of a group and stores its outputs. Leaves the step to the output of the next one in r2. With `any`, for form ANY, halves below zero go away from zero, and q3 is loaded again.
.macro RESULTS any
  vmov q0[2], q0[0], r4, r8
  vmov q0[3], q0[1], r6, r10
  vmov q1[2], q1[0], r0, r12
  vmov q1[3], q1[1], r2, lr
  vadd.i32 q0, q0, r5
  vadd.i32 q1, q1, r5
  vqrdmulh.s32 q0, q0, r7
  vqrdmulh.s32 q1, q1, r7
  .if \any
  vshr.s32 q3, q0, #31
  vadd.i32 q0, q0, q3
  vshr.s32 q3, q1, #31
  vadd.i32 q1, q1, q3
  .endif
  vrshl.s32 q0, r9
  vrshl.s32 q1, r9
  ldrd r0, r2, [sp, #ZERO_POINT]
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  vqadd.s16 q0, q0, r0
  .if \any
  ldrd r6, r8, [sp, #LIMITS]
  vdup.16 q1, r6
  vmax.s16 q0, q0, q1
  vdup.16 q1, r8
  vmin.s16 q0, q0, q1
  vldrw.32 q3, [sp, #OFFSETS]
  .else
  vqmovnb.s16 q0, q0
  .endif
  vpst
  vstrbt.16 q0, [r3, q3]
.endm

// The channels of a strip.
.macro CHANNELS_OF_STRIP any
1:  // a channel
  CHANNEL
2:  // a group of outputs
  PRODUCTS
  RESULTS \any
  add r3, r3, r2
  subs r11, r11, #1
  bne 2b
  ldr r0, [sp, #REST]
  cbnz r0, 4f
3:
  subs r1, r1, #1
  bne 1b
  b 9f
4:  // one or two columns
  vmsr p0, r0
  HALF_PRODUCTS
  RESULTS \any
  ldr r0, [sp, #MASK]
  vmsr p0, r0
  b 3b
.endm

// void cmsis_nn_delegate_window_vectors(
//     const WindowStrip* strip)   r0
//
// Register usage
//   Channels  r1 left
//   Columns   q0 q1 vectors of them, q2 the addresses of the four in the last vector
//   Output    r3; q3 offsets of the eight, P0 which of them are stored
//   Weights   q4, q5 one row, q6 one column, q7 both further
//   Sums      r4 r6 r8 r10 first row, r0 r2 r12 lr second; then in the lanes of q0 and q1
//   Scales    r5 start, r7 multiplier, r9 shift
//   Groups    r11
//
// Layout of the table: see WindowStrip. The byte of 0 behind the weights of a column is where the second row of outputs
// has its last row: a shift by a byte makes those weights.
//
// Cost, for the eight outputs of a group: 30 instructions with form LEAST, 27 of them vector instructions, 108 beats, with
// form ANY 10 more; 26 for one or two last columns; 21 once for a channel of a strip.
//
// Bounds: reads four words of each vector, of columns that the caller has written: four of each group and two more; and 24
// bytes of the table for each of `channels`. Stores the outputs whose bits are set in `mask`, of the columns behind the
// groups in `rest`.
  FUNCTION cmsis_nn_delegate_window_vectors
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  NEIGHBOURS WINDOW_STRIP_COLUMNS, WINDOW_STRIP_TABLE, WINDOW_STRIP_OUTPUT, WINDOW_STRIP_CHANNELS, \
             WINDOW_STRIP_GROUPS, WINDOW_STRIP_OUTPUT_STEP, WINDOW_STRIP_ZERO_POINT, WINDOW_STRIP_LEAST, \
             WINDOW_STRIP_MOST, WINDOW_STRIP_FORM, WINDOW_STRIP_MASK, WINDOW_STRIP_REST
  .if WINDOW_STRIP_COLUMNS
  .error "members are loaded from the beginning of the struct"
  .endif
  vldrw.32 q3, [r0, #WINDOW_STRIP_OFFSETS]
  vldrw.32 q2, [r0, #WINDOW_STRIP_PLACES]
  vstrw.32 q3, [sp, #OFFSETS]
  vstrw.32 q2, [sp, #PLACES]
  mov r11, #0
  ldm r0!, {r1-r8}
  sub r1, r1, #STEP
  strd r1, r3, [sp, #COLUMNS]
  sub r2, r2, #8
  strd r2, r5, [sp, #TABLE]
  mov r9, r4
  strd r7, r6, [sp, #ZERO_POINT]
  ldm r0, {r1-r4}  // from `most` on
  strd r8, r1, [sp, #LIMITS]
  strd r4, r3, [sp, #REST]
  vmsr p0, r3
  mov r1, r9
  cmp r2, #0
  beq .Lany
  CHANNELS_OF_STRIP 0
.Lany:
  CHANNELS_OF_STRIP 1
9:
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_window_vectors, .-cmsis_nn_delegate_window_vectors

// Columns, whose first row is loaded by `first`.
.macro INTERLEAVE keep, first
1:
  vpstttt
  \first
  vldrbt.8 q1, [r5]
  vldrbt.8 q2, [r6]
  vldrbt.8 q3, [r7]
  .if \keep
  vstrb.8 q2, [r1], #16
  .endif
  vst40.8 {q0, q1, q2, q3}, [r0]
  vst41.8 {q0, q1, q2, q3}, [r0]
  vst42.8 {q0, q1, q2, q3}, [r0]
  vst43.8 {q0, q1, q2, q3}, [r0]!
  add r4, r4, r8
  add r5, r5, r9
  add r6, r6, r10
  add r7, r7, r11
  le lr, 1b
.endm

// void cmsis_nn_delegate_interleave_rows(
//     int8_t* to,                     r0
//     const int8_t* const rows[4],    r1, then in r4-r7
//     const int32_t steps[4],         r2, then in r8-r11
//     int32_t count,                  r3
//     int32_t channels,               [sp]
//     int8_t* keep)                   [sp + 4], then in r1; or null
//
// Register usage: q0-q3 16 channels of each row; without a first row, r4 the third ones in columns, and q4 their places.
//
// Cost: 14 instructions a column, of which 9 are vector instructions, 36 beats; one more of each if the third row is kept.
//
// Bounds: reads `channels` bytes, 1 to 16, of each of `count` >= 1 pixels of the four rows: others are predicated. Writes 64
// bytes for each, and 16 to `keep`.
  FUNCTION cmsis_nn_delegate_interleave_rows
  push {r4-r11, lr}
  ldr r12, [sp, #36]
  ldm r1, {r4-r7}
  ldr r1, [sp, #40]
  ldm r2, {r8-r11}
  vctp.8 r12
  dls lr, r3
  cbz r4, 3f
  cbz r1, 2f
  INTERLEAVE 1, "vldrbt.8 q0, [r4]"
  pop {r4-r11, pc}
2:
  INTERLEAVE 0, "vldrbt.8 q0, [r4]"
  pop {r4-r11, pc}
3:
  vpush {d8-d9}
  add r4, r0, #2
  mov r8, #64
  mov r2, #0
  vidup.u8 q4, r2, #4
  INTERLEAVE 0, "vldrbt.u8 q0, [r4, q4]"
  vpop {d8-d9}
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_interleave_rows, .-cmsis_nn_delegate_interleave_rows

#endif
