// The inner loop of runtime/kernels/common/row_products.h for Armv7E-M and Armv8-M with DSP.
//
// Eight channels take eight registers for sums, so a word of inputs is loaded once for each of its two pairs.
// The table is 4-byte aligned; inputs need not be, so word loads have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/row_products_loops_dsp.h"

  .syntax unified
  .thumb

// Four inputs, from r0.
.macro WORD products
  ldr r3, [r0]
  sxtb16 r3, r3
  \products
  ldr r3, [r0], #4
  sxtb16 r3, r3, ror #8
  \products
.endm
.macro EIGHT_INPUTS products
  WORD \products
  WORD \products
.endm

// The same for EIGHT_JOINT, which leaves r2 as it is.
.macro WORD_JOINT products
  ldr r2, [r0], #4
  sxtb16 r3, r2
  \products
  sxtb16 r3, r2, ror #8
  \products
.endm
.macro EIGHT_INPUTS_JOINT products
  WORD_JOINT \products
  WORD_JOINT \products
.endm

// As ADD_INPUTS says.
.macro ADD_WORD
  ldr r3, [r4], #4
  sxtb16 r6, r3
  sxtb16 r3, r3, ror #8
  smlad r2, r6, r12, r2
  smlad r2, r3, r12, r2
.endm
.macro ADD_EIGHT
  ADD_WORD
  ADD_WORD
.endm

// Requantizes the sums of a block and stores them, as MULTIPLY_ROW says.
.macro RESULTS
  ldr r7, [r12, #ROW_PRODUCTS_FORM]
  mov r6, sp
  subs r10, r5, #8  // channels after this block
  it gt
  movgt r5, #8
  cbz r7, 4f
3:  // one channel
  ldr r0, [r6], #4
  ldrd r2, r3, [r11]
  add r11, r11, lr
  asr r7, r2, #8
  lsl r0, r0, r2
  smmla r0, r0, r3, r7
  ssat r0, #8, r0, asr #12
  strb r0, [r4], #1
  subs r5, r5, #1
  bne 3b
  b 5f
4:
  NEIGHBOURS ROW_PRODUCTS_LEAST, ROW_PRODUCTS_MOST
  ldrd r8, r9, [r12, #ROW_PRODUCTS_LEAST]
6:  // one channel
  ldr r0, [r6], #4
  ldrd r2, r3, [r11]
  add r11, r11, lr
  asr r7, r2, #8
  sub r12, r2, #1
  lsl r7, r7, r12
  lsl r0, r0, #1
  smmlar r12, r0, r3, r7
  add r0, r12, r0, asr #31
  asr r0, r0, r2
  cmp r0, r8
  it lt
  movlt r0, r8
  cmp r0, r9
  it gt
  movgt r0, r9
  strb r0, [r4], #1
  subs r5, r5, #1
  bne 6b
  ldr r12, [sp, #ROW]
5:
.endm

// void cmsis_nn_delegate_multiply_row(
//     RowProducts* products)   r0   output, channels and scales are where they end after the call
// void cmsis_nn_delegate_multiply_joint_row(   the same with weights of two channels in 16 bits
// void cmsis_nn_delegate_multiply_nibble_row(   the same with weights of 4 bits
//
// Register usage
//   Inputs    r0, and r3 for a pair of them
//   Table     r1
//   Weights   r12 lr, widened in r2 r12 lr, or, of two channels in 16 bits, in r12 lr, with inputs in r2; of 4 bits r12, masked in r2, with the mask in lr
//   Sums      r4-r11, one for each channel of a block; then on the stack, where r6 goes over them
//   Results   r4 output, r5 channels of the block left, r10 channels after it, r11 scales, lr bytes between these
//
// Layout of the table, for each 8 channels: 8 starts, int32; for each two inputs, 0 and 2 or 1 and 3 of a word of
// inputs, four words with the int8 weights of two channels each: of the first input for both, then of the second. With
// weights of two channels in 16 bits, starts and weights of every second channel are 256 times its own and those of the channel before. With
// weights of 4 bits, which are 8 more than they stand for, two words have those of four channels each: in the lower half
// those for the first input, the first channel in the lowest bits, in the upper half those for the second.
//
// Cost: 83 instructions for 8 inputs and 8 channels, 64 products; 10 a result with form FLOOR, 19 with ANY. With weights of
// two channels in 16 bits, 65, and 8 for a block. With weights of 4 bits,
// 10 more for a block, and 12 once for 8 inputs.
//
// Bounds: a step reads 8 inputs and 64 bytes of the table, 32 with weights of 4 bits. [input, input_end) is a multiple of 8
// inputs; what is left of a row lies in [rest, rest_end), 8 inputs that its caller has filled up with zeros, so that
// nothing behind the row is read. A block has 8 words and 16 for each 8 inputs, 8 with weights of 4 bits, and there are
// channels / 8 blocks, rounded up: init() compares block_words and blocks. The last one to seven channels have starts and
// weights of 0 in the place of those that are missing, and only the results of others are stored. Scales are read as many as
// results are stored. ReadsPast is 0.
  MULTIPLY_ROW cmsis_nn_delegate_multiply_row, EIGHT_INPUTS, EIGHT_CHANNELS, RESULTS
  MULTIPLY_ROW cmsis_nn_delegate_multiply_joint_row, EIGHT_INPUTS_JOINT, EIGHT_JOINT, RESULTS, , SEPARATE_EIGHT
  MULTIPLY_ROW cmsis_nn_delegate_multiply_nibble_row, EIGHT_INPUTS, EIGHT_NIBBLES, RESULTS, ADD_EIGHT

#endif
