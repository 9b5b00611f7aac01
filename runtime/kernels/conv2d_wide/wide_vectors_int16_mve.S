// The inner loop of runtime/kernels/conv2d_wide/wide_vectors.h for MVE.
//
// Products are added up in 32 bits, which hold those of 15 turns of 32 inputs whatever these and the weights are: 480 * 2^15 * 2^7
// is less than 2^31. Then the lower and the upper halves of the sums are added to vectors of words of their own, and the sums
// begin anew.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/vector_products_loops_mve.h"

  .syntax unified
  .thumb

// Offsets in what the function keeps on the stack, beside PRODUCTS, GROUPS_LEFT, LAST, OUTPUT and LOCALS.
#define TURNS_LEFT 12
#define WINDOWS 16  // four, of the group

#define MOST_TURNS 15  // of a sum of 32 bits

// Two results of one channel, in the lanes `a` and `b` of `results`, from the lower and upper halves of sums. r0 r1 start, r2
// multiplier, r9 the same * 2^16, r3 shift.
.macro TWO_RESULTS results, lower, upper, a, b
  vmov r8, r10, \lower[\a], \lower[\b]
  vmov r12, lr, \upper[\a], \upper[\b]
  mov r4, r0
  mov r5, r1
  smlal r4, r5, r12, r9
  umlal r4, r5, r8, r2
  asrl r4, r5, r3
  mov r6, r0
  mov r11, r1
  smlal r6, r11, lr, r9
  umlal r6, r11, r10, r2
  asrl r6, r11, r3
  vmov \results[\a], \results[\b], r4, r6
.endm

.macro RESULTS results, lower, upper
  ldm r7!, {r0, r1, r2, r3}
  lsl r9, r2, #16
  TWO_RESULTS \results, \lower, \upper, 2, 0
  TWO_RESULTS \results, \lower, \upper, 3, 1
.endm

// void cmsis_nn_delegate_multiply_wide_vectors_int16(
//     const VectorProductsOf<int16_t>* products)   r0
//
// Register usage
//   Windows   r1 r3 r5 r9
//   Weights   r7
//   Turns     r11 of the sum
//   Sums      r4 r6 r8 r10 of the first channel, window by window, r0 r2 r12 lr of the second
//   q0 weights or sums, q1 q2 q3 vectors; q4 q5 sums of the lower halves of the channels, q6 q7 of the upper ones
//
// Layout of the table, for each 2 channels: for each 8 inputs 8 weights of the first and 8 of the second; for each channel the
// start of its products with the multiplier, int64, the multiplier, int32 of 15 bits, and the shift, int32.
//
// Cost, for two channels of four windows of T turns of 32 inputs: 58 T + 80 instructions, and 28 for each 15 turns, rounded up.
//
// Bounds: of each window 64 T bytes are read, of the table 64 T + 32 for each two channels, from `vectors` turns. Sums of lower
// halves are less than 2^32 and those of upper halves have 32 bits for fewer than 2^24 inputs. Results have at most 31 bits before
// they are limited, as the compiler has proved; only those of `channels` channels of four windows are written, at `offsets`.
  FUNCTION cmsis_nn_delegate_multiply_wide_vectors_int16
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  NEIGHBOURS VECTOR_PRODUCTS_TABLE, VECTOR_PRODUCTS_OUTPUT, VECTOR_PRODUCTS_CHANNELS
  ldrd r7, r11, [r0, #VECTOR_PRODUCTS_TABLE]
  ldr r1, [r0, #VECTOR_PRODUCTS_CHANNELS]
  ldr r2, [r0, #VECTOR_PRODUCTS_GROUPS]
  NEIGHBOURS PRODUCTS, GROUPS_LEFT
  strd r0, r2, [sp, #PRODUCTS]
  vldrw.32 q0, [r0, #VECTOR_PRODUCTS_WINDOWS]
  add r4, sp, #WINDOWS
  vstrw.32 q0, [r4]
  add r1, r11, r1, lsl #1
  subs r1, #4
  str r1, [sp, #LAST]

.Lchannels:
  str r11, [sp, #OUTPUT]
  vmov.i32 q4, #0
  vmov.i32 q5, #0
  vmov.i32 q6, #0
  vmov.i32 q7, #0
  ldr r2, [sp, #PRODUCTS]
  ldr r2, [r2, #VECTOR_PRODUCTS_VECTORS]
  ldrd r1, r3, [sp, #WINDOWS]
  ldrd r5, r9, [sp, #WINDOWS + 8]
1:
  mov r11, #MOST_TURNS
  subs r4, r2, #MOST_TURNS
  itt lt
  movlt r11, r2
  movlt r4, #0
  str r4, [sp, #TURNS_LEFT]
  movs r4, #0
  movs r6, #0
  mov r8, #0
  mov r10, #0
  movs r0, #0
  movs r2, #0
  mov r12, #0
  mov lr, #0
2:
  MULTIPLY_VECTOR vldrb.s16, 8, 0, vldrh.16, vmladava.s16, ], #16
  MULTIPLY_VECTOR vldrb.s16, 8, 0, vldrh.16, vmladava.s16, ], #16
  MULTIPLY_VECTOR vldrb.s16, 8, 0, vldrh.16, vmladava.s16, ], #16
  MULTIPLY_VECTOR vldrb.s16, 8, 0, vldrh.16, vmladava.s16, ], #16
  subs r11, #1
  bne 2b
  vmov q0[2], q0[0], r4, r8
  vmov q0[3], q0[1], r6, r10
  vmov q1[2], q1[0], r0, r12
  vmov q1[3], q1[1], r2, lr
  vmovlb.u16 q2, q0
  vmovlb.u16 q3, q1
  vadd.i32 q4, q4, q2
  vadd.i32 q5, q5, q3
  vshr.s32 q0, q0, #16
  vshr.s32 q1, q1, #16
  vadd.i32 q6, q6, q0
  vadd.i32 q7, q7, q1
  ldr r2, [sp, #TURNS_LEFT]
  cmp r2, #0
  bne 1b

  RESULTS q0, q4, q6
  RESULTS q1, q5, q7
  ldr r0, [sp, #PRODUCTS]
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  NEIGHBOURS VECTOR_PRODUCTS_LEAST, VECTOR_PRODUCTS_MOST
  ldrd r2, r4, [r0, #VECTOR_PRODUCTS_LEAST]
  vldrw.32 q4, [r0, #VECTOR_PRODUCTS_OFFSETS]
  vdup.16 q1, r2
  vdup.16 q2, r4
  vmax.s16 q0, q0, q1
  ldr r11, [sp, #OUTPUT]
  vmin.s16 q0, q0, q2
  ldr r1, [sp, #LAST]
  vstrh.16 q0, [r11, q4]
  add r11, r11, #4
  subs r2, r11, r1
  bls .Lchannels
  cmp r2, #2
  bne 3f
  subs r11, #2  // a single channel is left, and comes with the one before
  b .Lchannels
3:
  ldr r2, [sp, #GROUPS_LEFT]
  subs r2, #1
  beq 4f
  str r2, [sp, #GROUPS_LEFT]
  add r4, sp, #WINDOWS
  vldrw.32 q0, [r4]
  ldr r2, [r0, #VECTOR_PRODUCTS_WINDOWS_STEP]
  vadd.i32 q0, q0, r2
  vstrw.32 q0, [r4]
  ldr r7, [r0, #VECTOR_PRODUCTS_TABLE]
  ldr r2, [r0, #VECTOR_PRODUCTS_CHANNELS]
  add r1, r1, r2, lsl #3
  str r1, [sp, #LAST]
  add r2, r2, r2, lsl #1
  add r11, r11, r2, lsl #1
  b .Lchannels
4:
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_multiply_wide_vectors_int16, .-cmsis_nn_delegate_multiply_wide_vectors_int16

#endif
