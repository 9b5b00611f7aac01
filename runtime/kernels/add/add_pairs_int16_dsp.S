// The inner loop of runtime/kernels/add/add_pairs_int16.h for Armv7E-M and Armv8-M with DSP.
//
// Inputs and output need not be aligned, so accesses to words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/add/add_pairs_int16_members.h"

  .syntax unified
  .thumb

#define SAVED_BYTES 40

// Two elements, whose results are in r12 in the end; also changes r10 r11 lr. `saturate` limits a result to `bits` bits.
.macro ADD_TWO saturate, bits
  ldr r10, [r0], #4
  ldr r11, [r1], #4
  lsl r12, r11, #16
  and r11, r9, r11
  smmulr r12, r12, r5
  smmulr r11, r11, r5
  add r12, r12, r12, asr #31
  add r11, r11, r11, asr #31
  smulbb lr, r10, r4
  smultb r10, r10, r4
  smmlsr r12, r12, r6, lr
  smmlsr r11, r11, r6, r10
  add lr, r12, r12, asr #31
  add r10, r11, r11, asr #31
  smmlar r12, r12, r7, lr
  smmlar r11, r11, r7, r10
  smmulr r12, r12, r8
  smmulr r11, r11, r8
  \saturate r12, #\bits, r12
  \saturate r11, #\bits, r11
  pkhbt r12, r12, r11, lsl #16
.endm

// void cmsis_nn_delegate_add_pairs_int16(
//     const int16_t* a,     r0
//     const int16_t* b,     r1
//     int16_t* output,      r2
//     int32_t words,        r3
//     const PairSum* p)     [sp]   (r12 until its members are loaded)
//
// Register usage: r4 factor, r5 multiplier, r6 unit, r7 output_multiplier, r8 output_unit, r9 mask of the upper half,
// r10-r12 lr inputs and sums. Limits lie on the stack.
//
// Cost: 24 instructions for 2 elements, 29 with limits other than those of a ReLU.
//
// Bounds: reads and writes 4 bytes of each operand `words` times, and `words` is at least 1: its caller computes the
// last element of an odd number. Both inputs of a word are read before its results are written, so the output may be one
// of the inputs. There is no table.
  FUNCTION cmsis_nn_delegate_add_pairs_int16
  push {r3-r11, lr}
  ldr r12, [sp, #SAVED_BYTES]
  NEIGHBOURS PAIR_SUM_FACTOR, PAIR_SUM_MULTIPLIER, PAIR_SUM_UNIT, PAIR_SUM_OUTPUT_MULTIPLIER, PAIR_SUM_OUTPUT_UNIT, \
             PAIR_SUM_LIMITS, PAIR_SUM_LEAST, PAIR_SUM_MOST
  .if PAIR_SUM_FACTOR
  .error "factors are loaded from the beginning of the struct"
  .endif
  ldm r12, {r4-r9}  // factor, multiplier, unit, output_multiplier, output_unit, limits
  cmp r9, #PAIR_SUM_NOT_NEGATIVE
  movw r9, #0
  movt r9, #0xFFFF
  beq 2f
  bhi 3f
1:
  ADD_TWO ssat, 16
  str r12, [r2], #4
  subs r3, #1
  bne 1b
  pop {r3-r11, pc}
2:
  ADD_TWO usat, 15
  str r12, [r2], #4
  subs r3, #1
  bne 2b
  pop {r3-r11, pc}
3:
  ldrd r10, r11, [r12, #PAIR_SUM_LEAST]
  sub sp, #8
  strd r10, r11, [sp]
4:
  ADD_TWO ssat, 16
  // Both at a time: SSUB16 sets flags for each half whose difference is not negative, and SEL takes the first half
  // where they are set.
  ldrd r10, r11, [sp]
  ssub16 lr, r12, r10
  sel r12, r12, r10
  ssub16 lr, r11, r12
  sel r12, r12, r11
  str r12, [r2], #4
  subs r3, #1
  bne 4b
  add sp, #8
  pop {r3-r11, pc}
  .size cmsis_nn_delegate_add_pairs_int16, .-cmsis_nn_delegate_add_pairs_int16

#endif
