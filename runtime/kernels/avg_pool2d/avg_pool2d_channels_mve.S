// Means of windows for MVE (runtime/kernels/common/pooled_windows_loops_mve.h).
//
// Inputs are widened to 16 bits where they are loaded. The reciprocal of 25 bits is 2^16 times its upper part plus
// its lower one, which is a number of 16 bits with a sign; VMULH and VMLA multiply by them. The products may wrap
// around, but bits 8 to 15 of them and a half are the mean (reciprocal.h), which a store of bytes takes.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/pooled_windows_loops_mve.h"

// q1 gets the lower part of the reciprocal, r9 the upper one.
.macro PREPARE_MEANS
  ldr r9, [r10, #POOLED_RECIPROCAL]
  sxth r12, r9
  sub r9, r9, r12
  asr r9, r9, #16
  vdup.16 q1, r12
.endm

// Sums of 8 channels each lie in q4-q7.
.macro START_32
  vmov.i32 q4, #0
  vmov.i32 q5, #0
  vmov.i32 q6, #0
  vmov.i32 q7, #0
.endm

.macro TAKE_32
  vldrb.s16 q0, [r0]
  vldrb.s16 q2, [r0, #8]
  vadd.i16 q4, q4, q0
  vldrb.s16 q0, [r0, #16]
  vadd.i16 q5, q5, q2
  vldrb.s16 q2, [r0, #24]
  vadd.i16 q6, q6, q0
  vadd.i16 q7, q7, q2
.endm

// The means of 8 sums, in `means`.
.macro DIVIDE means, sums
  vmulh.s16 \means, \sums, q1
  vmla.s16 \means, \sums, r9
  vrshr.s16 \means, \means, #8
.endm

// Loads the limits to q2 and q3. r0 is changed.
.macro LOAD_LIMITS
  ldr r0, [r10, #POOLED_LEAST]
  vdup.32 q2, r0
  ldr r0, [r10, #POOLED_MOST]
  vdup.32 q3, r0
.endm

.macro LIMIT means
  vmax.s8 \means, \means, q2
  vmin.s8 \means, \means, q3
.endm

.macro GIVE_32
  DIVIDE q0, q4
  DIVIDE q4, q5
  DIVIDE q5, q6
  DIVIDE q6, q7
  ldr r12, [r10, #POOLED_LIMITED]
  cmp r12, #0
  beq 9f
  LOAD_LIMITS
  LIMIT q0
  LIMIT q4
  LIMIT q5
  LIMIT q6
9:
  vstrb.16 q0, [r5]
  vstrb.16 q4, [r5, #8]
  vstrb.16 q5, [r5, #16]
  vstrb.16 q6, [r5, #24]
.endm

// The same for the channels that are left, at most 8, in q4.
.macro PREPARE_REST
  vctp.16 r0
  PREPARE_MEANS
.endm

.macro START_REST
  vmov.i32 q4, #0
.endm

.macro TAKE_REST
  vpst
  vldrbt.s16 q0, [r0]
  vadd.i16 q4, q4, q0
.endm

.macro GIVE_REST
  DIVIDE q0, q4
  ldr r12, [r10, #POOLED_LIMITED]
  cmp r12, #0
  beq 9f
  LOAD_LIMITS
  LIMIT q0
9:
  vpst
  vstrbt.16 q0, [r5]
.endm

// void cmsis_nn_delegate_avg_pool_32_mve(const PooledWindows* windows, int32_t first)
// void cmsis_nn_delegate_avg_pool_rest_mve(const PooledWindows* windows, int32_t first)
//
// Register usage: q0 q2 inputs, q0 q4-q6 means, q1 r9 the reciprocal, q2 q3 limits, q4-q7 sums; the others as in
// POOL_WINDOWS.
//
// Cost: 32 channels of a window take 29 instructions, of each of its rows 4 and of each pixel 10, or with two columns
// 29, 1 and 9; 8 and fewer take 15, 4 and 5, or 15, 1 and 4. Limits take 12 and 6 more.
//
// Bounds: read and write 32 channels from `first` on of each pixel of the windows and of their results, of which the
// caller says that there are as many; or those that there are, at most 8, with a predicate. A sum of 256 int8 has 16
// bits. There is no table.
  FUNCTION cmsis_nn_delegate_avg_pool_32_mve
  POOL_WINDOWS PREPARE_MEANS, START_32, TAKE_32, GIVE_32
  .size cmsis_nn_delegate_avg_pool_32_mve, .-cmsis_nn_delegate_avg_pool_32_mve

  FUNCTION cmsis_nn_delegate_avg_pool_rest_mve
  POOL_WINDOWS PREPARE_REST, START_REST, TAKE_REST, GIVE_REST
  .size cmsis_nn_delegate_avg_pool_rest_mve, .-cmsis_nn_delegate_avg_pool_rest_mve

#endif
