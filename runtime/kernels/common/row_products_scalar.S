// The sums of runtime/kernels/common/row_products_scalar.h, for cores without DSP: other ones for Armv6-M and Armv8-M
// without the main extension, where a product takes three instructions.
//
// Layout of the weights, for each two inputs: 16 bytes, in words as in row_products.h.
#if defined(__ARM_ARCH_ISA_THUMB) && !(defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP) && \
    !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/tuned/assembly.h"

  .syntax unified
  .thumb

#if __ARM_ARCH_ISA_THUMB >= 2
// The products of an input with the weights of a channel.
.macro PRODUCT sum, at:vararg
  ldrsb r12, \at
  mla \sum, lr, r12, \sum
.endm
// An input and the weights of eight channels, of which those of the first one lie at r3 + \offset.
.macro INPUT input, offset
  ldrsb lr, [r1, #\input]
  PRODUCT r4, [r3, #\offset]
  PRODUCT r5, [r3, #\offset+1]
  PRODUCT r6, [r3, #\offset+4]
  PRODUCT r7, [r3, #\offset+5]
  PRODUCT r8, [r3, #\offset+8]
  PRODUCT r9, [r3, #\offset+9]
  PRODUCT r10, [r3, #\offset+12]
  PRODUCT r11, [r3, #\offset+13]
.endm

// void cmsis_nn_delegate_add_row(
//     int32_t* sums,           r0   eight
//     const int8_t* input,     r1
//     const int8_t* end,       r2
//     const int8_t* weights)   r3
//
// Register usage
//   Inputs    r1, and lr for one of them
//   Weights   r3, and r12 for one of them
//   Sums      r4 to r11
//
// Cost: 70 instructions for 4 inputs and 8 channels, 32 products.
//
// Bounds: a step reads 4 inputs and 32 bytes of weights. Its caller gives [input, end) as a multiple of 4 inputs and
// not empty, and `weights` at those of a block for the first of them, so that the last bytes read are those of the
// block. ReadsPast is 0.
  FUNCTION cmsis_nn_delegate_add_row
  push {r0, r4-r11, lr}
  ldm r0, {r4-r11}
1:  // four inputs; the loads of the first one, which come last, go on to the next four
  INPUT 2, 2
  INPUT 1, 16
  INPUT 3, 18
  ldrsb lr, [r1], #4
  PRODUCT r5, [r3, #1]
  PRODUCT r6, [r3, #4]
  PRODUCT r7, [r3, #5]
  PRODUCT r8, [r3, #8]
  PRODUCT r9, [r3, #9]
  PRODUCT r10, [r3, #12]
  PRODUCT r11, [r3, #13]
  PRODUCT r4, [r3], #32
  cmp r1, r2
  bne 1b
  pop {r0}
  stm r0, {r4-r11}
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_add_row, .-cmsis_nn_delegate_add_row

#else
// Multiplies the inputs in r2 and r3 with a word of weights of two channels; r5 r6 are temporary.
.macro PRODUCTS offset, first, second
  ldr r4, [r1, #\offset]
  sxtb r5, r4
  muls r5, r2
  lsls r6, r4, #8
  asrs r6, r6, #24
  muls r6, r3
  adds r5, r6
  add \first, r5
  lsls r5, r4, #16
  asrs r5, r5, #24
  muls r5, r2
  asrs r4, r4, #24
  muls r4, r3
  adds r4, r5
  add \second, r4
.endm

// Two inputs, which lie at r0 + \low and r0 + \high.
.macro PAIR low, high, offset
  movs r2, #\low
  ldrsb r2, [r0, r2]
  movs r3, #\high
  ldrsb r3, [r0, r3]
  PRODUCTS \offset, r8, r9
  PRODUCTS \offset+4, r10, r11
.endm

// void cmsis_nn_delegate_add_row(
//     int32_t* sums,           r0   four, then the inputs
//     const int8_t* input,     r1   then the weights
//     const int8_t* end,       r2   then in r12
//     const int8_t* weights)   r3
//
// Register usage
//   Inputs    r0, and r2 r3 for two of them
//   Weights   r1, and r4 for a word; r5 r6 are temporary
//   Sums      r8 r9 r10 r11
//   End       r12
//
// Of the 16 bytes of weights for each two inputs, the first 8 or the last 8 are those of the four channels.
//
// Cost: 72 instructions for 4 inputs and 4 channels, 16 products.
//
// Bounds: a step reads 4 inputs and, of 32 bytes of weights, 8 in each half. Its caller gives [input, end) as a
// multiple of 4 inputs and not empty, and `weights` at the beginning of a block or 8 bytes behind it, so that the last
// bytes read are those of the block. ReadsPast is 0.
  FUNCTION cmsis_nn_delegate_add_row
  push {r0, r4-r7, lr}
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  push {r4-r7}
  ldm r0!, {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  mov r0, r1
  mov r1, r3
  mov r12, r2
1:  // four inputs
  PAIR 0, 2, 0
  PAIR 1, 3, 16
  adds r0, #4
  adds r1, #32
  cmp r0, r12
  bne 1b
  ldr r0, [sp, #16]
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  stm r0!, {r4-r7}
  pop {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  pop {r0, r4-r7, pc}
  .size cmsis_nn_delegate_add_row, .-cmsis_nn_delegate_add_row
#endif

#endif
