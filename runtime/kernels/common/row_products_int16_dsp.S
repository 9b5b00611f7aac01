// The inner loop of runtime/kernels/common/row_products_int16.h for Armv7E-M and Armv8-M with DSP.
//
// Eight channels take eight registers for sums. The table is 4-byte aligned; inputs need not be, so word loads have to be
// allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/row_products_loops_dsp.h"

  .syntax unified
  .thumb

// Two inputs, from r0.
.macro PAIR products
  ldr r3, [r0], #4
  \products
.endm
.macro EIGHT_INPUTS products
  PAIR \products
  PAIR \products
  PAIR \products
  PAIR \products
.endm

// As ADD_INPUTS says.
.macro ADD_PAIR
  ldr r3, [r4], #4
  smlad r2, r3, r12, r2
.endm
.macro ADD_EIGHT
  ADD_PAIR
  ADD_PAIR
  ADD_PAIR
  ADD_PAIR
.endm

// Requantizes the sums of a block and stores them, as MULTIPLY_ROW says.
.macro RESULTS
  NEIGHBOURS ROW_PRODUCTS_LEAST, ROW_PRODUCTS_MOST
  ldrd r8, r9, [r12, #ROW_PRODUCTS_LEAST]
  mov r6, sp
  subs r10, r5, #8  // channels after this block
  it gt
  movgt r5, #8
3:  // one channel: SMLAL adds the product to the halves of both roundings, which are 2^31 less for a negative sum
  ldr r0, [r6], #4
  ldrd r2, r3, [r11]
  add r11, r11, lr
  sub r12, r2, #1
  mov r7, #1
  lsl r7, r7, r12
  add r7, r7, r0, asr #31
  and r12, r0, #0x80000000
  orr r12, r12, #0x40000000
  smlal r12, r7, r0, r3
  asr r0, r7, r2
  cmp r0, r8
  it lt
  movlt r0, r8
  cmp r0, r9
  it gt
  movgt r0, r9
  strh r0, [r4], #2
  subs r5, r5, #1
  bne 3b
  ldr r12, [sp, #ROW]
.endm

// The same with the form FINE, which has the shifts to the left, for the sign and to the right in 8 bits each of its first
// word, and one result at a time in as many instructions.
.macro RESULTS_FINE
  NEIGHBOURS ROW_PRODUCTS_LEAST, ROW_PRODUCTS_MOST
  ldrd r8, r9, [r12, #ROW_PRODUCTS_LEAST]
  mov r6, sp
  subs r10, r5, #8  // channels after this block
  it gt
  movgt r5, #8
3:  // one channel
  ldr r0, [r6], #4
  ldrd r2, r3, [r11]
  add r11, r11, lr
  lsl r0, r0, r2
  lsr r7, r2, #16
  mov r12, #1
  lsl r12, r12, r7
  asr r12, r12, #1  // half a step, or 0
  smmlar r12, r0, r3, r12
  lsr r2, r2, #8
  lsr r0, r0, r2  // the sign, or 0
  sub r0, r12, r0
  asr r0, r0, r7
  cmp r0, r8
  it lt
  movlt r0, r8
  cmp r0, r9
  it gt
  movgt r0, r9
  strh r0, [r4], #2
  subs r5, r5, #1
  bne 3b
  ldr r12, [sp, #ROW]
.endm

// void cmsis_nn_delegate_multiply_row_int16(
//     RowProductsInt16* products)   r0   output, channels and scales are where they end after the call
// void cmsis_nn_delegate_multiply_nibble_row_int16(   the same with weights of 4 bits
//
// Register usage
//   Inputs    r0, and r3 for a pair of them
//   Table     r1
//   Weights   r12 lr, widened in r2 r12 lr; of 4 bits r12, masked in r2, with the mask in lr
//   Sums      r4-r11, one for each channel of a block; then on the stack, where r6 goes over them
//   Results   r4 output, r5 channels of the block left, r10 channels after it, r11 scales, lr bytes between these, r8 r9
//             limits
//
// Layout of the table, for each 8 channels: 8 starts, int32; for each two inputs four words with the int8 weights of two
// channels each: of the first input for both, then of the second. With weights of 4 bits, which are 8 more than they stand
// for, two words have those of four channels each: in the lower half those for the first input, the first channel in the
// lowest bits, in the upper half those for the second.
//
// Cost: 79 instructions for 8 inputs and 8 channels, 64 products; 22 a result. With weights of 4 bits, 10 more for a block, and
// 10 once for 8 inputs.
//
// Bounds: a step reads 8 inputs and 64 bytes of the table, 32 with weights of 4 bits. [input, input_end) is a multiple of 8 inputs; what is left of
// a row lies in [rest, rest_end), 8 inputs that its caller has filled up with zeros, so that nothing behind the row is
// read. A block has 8 words and 16 for each 8 inputs, 8 with weights of 4 bits, and there are channels / 8 blocks, rounded up: init() compares
// block_words and blocks. The last one to seven channels have starts and weights of 0 in the place of those that are
// missing, and only theirs are stored. Scales are read as many as results are stored. ReadsPast is 0.
  MULTIPLY_ROW cmsis_nn_delegate_multiply_row_int16, EIGHT_INPUTS, EIGHT_CHANNELS, RESULTS
  MULTIPLY_ROW cmsis_nn_delegate_multiply_nibble_row_int16, EIGHT_INPUTS, EIGHT_NIBBLES, RESULTS_FINE, ADD_EIGHT

#endif
