// The inner loop of runtime/kernels/add/add_linear.h for MVE.
//
// VQDMLAH and VQDMLASH keep the upper 32 of 64 bits of twice a product, with a sum beside them in those bits. An input
// that two VSHLL have widened and shifted up by 23 bits therefore gives the same quotient, rounded down, as SMLAWB gives
// of a byte in the upper half of a halfword. The first takes all that is even, the other what is odd, and the narrowing
// instructions put results back in the order of the inputs. Nothing saturates: the compiler has compared the sums of all
// pairs, those with one input 0 among them, with the limits of int32.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/add/add_linear_members.h"

  .syntax unified
  .thumb

#define SAVED_BYTES 88

// GNU as 2.40 gives VQSHRN the encoding of VQRSHRN, which rounds.
.macro NARROW_TO_Q2
  .inst.w 0xee8c4f44  // vqshrnb.s16 q2, q2, #4
  .inst.w 0xee8c5f48  // vqshrnt.s16 q2, q4, #4
.endm

#define FIRST_SHIFT 16  // of the fraction's bits; NARROW_TO_Q2 shifts by the others
.if ADD_LINEAR_FRACTION_BITS - FIRST_SHIFT - 4
.error "results are narrowed by another number of bits"
.endif

// Sums of every second of 16 elements, without 16 bits of their fraction: `even` gets halfwords. `part` is b or t. The
// inputs are in q0 and q1; q1, q3 and `odd`, which may be q0, are lost.
.macro ADD_EIGHT part, even, odd
  vshll\part\().s8 q1, q1, #8
  vshll\part\().s8 \odd, q0, #8
  vshllb.s16 \even, \odd, #15
  vshllt.s16 \odd, \odd, #15
  vqdmlash.s32 \even, q7, r6
  vshllb.s16 q3, q1, #15
  vqdmlash.s32 \odd, q7, r6
  vshllt.s16 q1, q1, #15
  vqdmlah.s32 \even, q3, r5
  vqdmlah.s32 \odd, q1, r5
  vshrnb.i32 \even, \even, #FIRST_SHIFT
  vshrnt.i32 \even, \odd, #FIRST_SHIFT
.endm

// void cmsis_nn_delegate_add_linear(
//     const int8_t* a,      r0
//     const int8_t* b,      r1
//     int8_t* output,       r2
//     int32_t words,        r3
//     const LinearSum* p)   [sp]   (r12 until its members are loaded)
//
// Register usage: r5 the second factor, r6 the constant, lr elements left; q7 the first factor, q5 the least and q6 the
// most results, q0-q4 inputs and sums.
//
// Cost: 33 instructions for 16 elements, or for the last 4, 8 or 12.
//
// Bounds: reads and writes 4 bytes of each operand `words` times, and `words` is at least 1: its caller computes the
// last one to three elements. The last vector may have fewer than 16 elements, all of whose words stay in their place
// while they are widened and narrowed, as the loop's predicate requires. The inputs of a vector are read before its
// results are written, so the output may be one of the inputs. There is no table.
  FUNCTION cmsis_nn_delegate_add_linear
  push {r4-r8, lr}
  vpush {d8-d15}
  ldr r12, [sp, #SAVED_BYTES]
  NEIGHBOURS LINEAR_SUM_FACTOR1, LINEAR_SUM_FACTOR2, LINEAR_SUM_CONSTANT
  NEIGHBOURS LINEAR_SUM_LEAST, LINEAR_SUM_MOST
  .if LINEAR_SUM_FACTOR1
  .error "factors are loaded from the beginning of the struct"
  .endif
  ldm r12, {r4-r6}  // factor1, factor2, constant
  ldrd r7, r8, [r12, #LINEAR_SUM_LEAST]
  vdup.32 q7, r4
  vdup.32 q5, r7
  vdup.32 q6, r8
  lsl r3, r3, #2
  dlstp.8 lr, r3
1:
  vldrb.8 q1, [r1]
  vldrb.8 q0, [r0], #16
  ADD_EIGHT b, q2, q4
  vldrb.8 q1, [r1], #16
  ADD_EIGHT t, q4, q0
  NARROW_TO_Q2
  vmax.s8 q2, q2, q5
  vmin.s8 q2, q2, q6
  vstrb.8 q2, [r2], #16
  letp lr, 1b
  vpop {d8-d15}
  pop {r4-r8, pc}
  .size cmsis_nn_delegate_add_linear, .-cmsis_nn_delegate_add_linear

#endif
