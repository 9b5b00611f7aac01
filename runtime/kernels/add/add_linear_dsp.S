// The inner loop of runtime/kernels/add/add_linear.h for Armv7E-M and Armv8-M with DSP.
//
// SMLAWB and SMLAWT multiply a factor of 32 bits with one half of a word and keep the upper 32 of 48 bits. An input
// in the upper byte of each half therefore needs one AND for two inputs, and no sign extension.
// Inputs and output need not be aligned, so accesses to words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/add/add_linear_members.h"

  .syntax unified
  .thumb

#define FRACTION_BITS ADD_LINEAR_FRACTION_BITS
#define SAVED_BYTES 40

// Four elements: r8-r12 lr inputs and sums, of which r10 has the results in the end.
.macro ADD_FOUR
  ldr r10, [r0], #4
  ldr r12, [r1], #4
  and r8, r7, r10, lsl #8  // elements 0 and 2
  and r9, r7, r10          // elements 1 and 3
  and r11, r7, r12, lsl #8
  and lr, r7, r12
  smlawb r10, r4, r8, r6
  smlawb r12, r4, r9, r6
  smlawt r8, r4, r8, r6
  smlawt r9, r4, r9, r6
  smlawb r10, r5, r11, r10
  smlawb r12, r5, lr, r12
  smlawt r8, r5, r11, r8
  smlawt r9, r5, lr, r9
  ssat r10, #8, r10, asr #FRACTION_BITS
  ssat r12, #8, r12, asr #FRACTION_BITS
  ssat r8, #8, r8, asr #FRACTION_BITS
  ssat r9, #8, r9, asr #FRACTION_BITS
  bfi r10, r12, #8, #8
  bfi r10, r8, #16, #8
  bfi r10, r9, #24, #8
.endm

// void cmsis_nn_delegate_add_linear(
//     const int8_t* a,      r0
//     const int8_t* b,      r1
//     int8_t* output,       r2
//     int32_t words,        r3
//     const LinearSum* p)   [sp]   (r12 until its members are loaded)
//
// Register usage: r4 r5 factors, r6 constant, r7 mask of the upper bytes, r8-r12 lr inputs and sums. Limits lie on the
// stack.
//
// Cost: 24 instructions for 4 elements, 29 with limits.
//
// Bounds: reads and writes 4 bytes of each operand `words` times, and `words` is at least 1: its caller computes the
// last one to three elements. All inputs of a word are read before its results are written, so the output may be one of
// the inputs. There is no table.
  FUNCTION cmsis_nn_delegate_add_linear
  push {r3-r11, lr}
  ldr r12, [sp, #SAVED_BYTES]
  NEIGHBOURS LINEAR_SUM_FACTOR1, LINEAR_SUM_FACTOR2, LINEAR_SUM_CONSTANT, LINEAR_SUM_LIMITED, LINEAR_SUM_LEAST, \
             LINEAR_SUM_MOST
  .if LINEAR_SUM_FACTOR1
  .error "factors are loaded from the beginning of the struct"
  .endif
  ldm r12, {r4-r6, r8}  // factor1, factor2, constant, limited
  mov r7, #0xFF00FF00
  cmp r8, #0
  bne 2f
1:
  ADD_FOUR
  str r10, [r2], #4
  subs r3, #1
  bne 1b
  pop {r3-r11, pc}
2:
  ldrd r8, r9, [r12, #LINEAR_SUM_LEAST]
  sub sp, #8
  strd r8, r9, [sp]
3:
  ADD_FOUR
  // All four at a time: SSUB8 sets a flag for each byte whose difference is not negative, and SEL takes the
  // first byte where it is set.
  ldrd r8, r9, [sp]
  ssub8 r12, r10, r8
  sel r10, r10, r8
  ssub8 r12, r9, r10
  sel r10, r10, r9
  str r10, [r2], #4
  subs r3, #1
  bne 3b
  add sp, #8
  pop {r3-r11, pc}
  .size cmsis_nn_delegate_add_linear, .-cmsis_nn_delegate_add_linear

#endif
