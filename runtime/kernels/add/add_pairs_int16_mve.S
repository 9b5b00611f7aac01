// The inner loop of runtime/kernels/add/add_pairs_int16.h for MVE.
//
// VQRDMULH and VRSHL round as SMMULR does with twice the number and with a power of two.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/add/add_pairs_int16_members.h"

  .syntax unified
  .thumb

#define SAVED_BYTES 32

// void cmsis_nn_delegate_add_pairs_int16(
//     const int16_t* a,     r0
//     const int16_t* b,     r1
//     int16_t* output,      r2
//     int32_t words,        r3
//     const PairSum* p)     [sp]   (r12 until its members are loaded)
//
// Register usage
//   r4 factor, r5 multiplier, r6 n of unit -2^(32-n), negative, r7 m of output_multiplier 2 m - 2^32, r8 n of output_unit
//   2^(32-n), negative
//   q0 sums, q1 the other operand, and signs; q2 q3 limits
//
// Cost: 17 instructions for 4 elements.
//
// Bounds: the loop predicates lanes from 2 * words elements on, so that they are neither read nor written; `words` is at
// least 1, and its caller computes the last element of an odd number. Both inputs of a vector are read before its results
// are written, so the output may be one of the inputs. There is no table.
  FUNCTION cmsis_nn_delegate_add_pairs_int16
  push {r3-r9, lr}
  ldr r12, [sp, #SAVED_BYTES]
  NEIGHBOURS PAIR_SUM_FACTOR, PAIR_SUM_MULTIPLIER, PAIR_SUM_UNIT, PAIR_SUM_OUTPUT_MULTIPLIER, PAIR_SUM_OUTPUT_UNIT
  .if PAIR_SUM_FACTOR
  .error "factors are loaded from the beginning of the struct"
  .endif
  ldm r12, {r4-r8}
  ldrsh r9, [r12, #PAIR_SUM_LEAST]
  vdup.32 q2, r9
  ldrsh r9, [r12, #PAIR_SUM_MOST]
  vdup.32 q3, r9
  rsb r6, r6, #0
  clz r6, r6
  mvn r6, r6  // -(clz + 1)
  clz r8, r8
  mvn r8, r8
  asr r7, r7, #1
  eor r7, r7, #0x80000000
  lsl r3, r3, #1
  dlstp.32 lr, r3
1:
  vldrh.s32 q0, [r1], #8
  vshl.i32 q0, q0, #15
  vqrdmulh.s32 q0, q0, r5
  vshr.s32 q1, q0, #31
  vadd.i32 q0, q0, q1
  vrshl.s32 q0, r6
  vldrh.s32 q1, [r0], #8
  vmul.i32 q1, q1, r4
  vadd.i32 q0, q0, q1
  vshr.s32 q1, q0, #31
  vqrdmulh.s32 q0, q0, r7
  vadd.i32 q0, q0, q1
  vrshl.s32 q0, r8
  vmax.s32 q0, q0, q2
  vmin.s32 q0, q0, q3
  vstrh.32 q0, [r2], #8
  letp lr, 1b
  pop {r3-r9, pc}
  .size cmsis_nn_delegate_add_pairs_int16, .-cmsis_nn_delegate_add_pairs_int16

#endif
