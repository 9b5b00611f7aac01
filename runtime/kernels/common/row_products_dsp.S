// The inner loop of runtime/kernels/common/row_products.h for Armv7E-M and Armv8-M with DSP.
//
// Eight channels take eight registers for sums, so a word of inputs is loaded once for each of its two pairs.
// The table is 4-byte aligned; inputs need not be, so word loads have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/eight_channels_dsp.h"
#include "runtime/kernels/common/row_products_members.h"

  .syntax unified
  .thumb

// The frame: the sums of a block, the RowProducts, and where the inputs that are being read end.
#define ROW 32
#define END 36
#define FRAME 44  // with the saved registers, a multiple of 8

// Four inputs, from r0.
.macro WORD products
  ldr r3, [r0]
  sxtb16 r3, r3
  \products
  ldr r3, [r0], #4
  sxtb16 r3, r3, ror #8
  \products
.endm

// The weights of 4 bits of four channels, in `word`. Each becomes the upper 4 of 16 bits, so that sums are 2^12 times as
// large.
.macro FOUR_NIBBLES word, a, b, c, d
  and r2, \word, #0xF000F000
  smlad \d, r3, r2, \d
  lsl \word, \word, #4
  and r2, \word, #0xF000F000
  smlad \c, r3, r2, \c
  lsl \word, \word, #4
  and r2, \word, #0xF000F000
  smlad \b, r3, r2, \b
  lsl \word, \word, #4
  and r2, \word, #0xF000F000
  smlad \a, r3, r2, \a
.endm

// What EIGHT_CHANNELS does with weights of 4 bits, in 23 instructions.
.macro EIGHT_NIBBLES
  ldrd r12, lr, [r1], #8
  FOUR_NIBBLES r12, r4, r5, r6, r7
  FOUR_NIBBLES lr, r8, r9, r10, r11
.endm

// void cmsis_nn_delegate_multiply_row(
//     RowProducts* products)   r0   output, channels and scales are where they end after the call
// void cmsis_nn_delegate_multiply_nibble_row(   the same with weights of 4 bits
//
// Register usage
//   Inputs    r0, and r3 for a pair of them
//   Table     r1
//   Weights   r12 lr, widened in r2 r12 lr
//   Sums      r4-r11, one for each channel of a block; then on the stack, where r6 goes over them
//   Results   r4 output, r5 channels of the block left, r10 channels after it, r11 scales, lr bytes between these
//
// Layout of the table, for each 8 channels: 8 starts, int32; for each two inputs, 0 and 2 or 1 and 3 of a word of
// inputs, four words with the int8 weights of two channels each: of the first input for both, then of the second. With
// weights of 4 bits, starts are 2^12 times as large, and two words have the weights of four channels each: in the lower
// half those for the first input, the first channel in the lowest bits, in the upper half those for the second.
//
// Cost: 83 instructions for 8 inputs and 8 channels, 64 products, 103 with weights of 4 bits; 10 a result with form FLOOR,
// 19 with ANY.
//
// Bounds: a step reads 8 inputs and 64 bytes of the table, 32 with weights of 4 bits. [input, input_end) is a multiple of 8
// inputs; what is left of a row lies in [rest, rest_end), 8 inputs that its caller has filled up with zeros, so that
// nothing behind the row is read. A block has 8 words and 16 for each 8 inputs, 8 with weights of 4 bits, and there are
// channels / 8 blocks, rounded up: init() compares block_words and blocks. The last one to seven channels have starts and
// weights of 0 in the place of those that are missing, and only the results of others are stored. Scales are read as many as
// results are stored. ReadsPast is 0.
.macro MULTIPLY_ROW name, products, shifted
  .section .text.\name, "ax", %progbits
  .global \name
  .type \name, %function
  .thumb_func
  .balign 8
\name:
  push {r4-r11, lr}
  sub sp, #FRAME
  str r0, [sp, #ROW]
  ldr r1, [r0, #ROW_PRODUCTS_TABLE]
1:  // eight channels
  ldr r12, [sp, #ROW]
  ldm r1!, {r4-r11}
  NEIGHBOURS ROW_PRODUCTS_INPUT, ROW_PRODUCTS_INPUT_END
  ldrd r0, r2, [r12, #ROW_PRODUCTS_INPUT]
  str r2, [sp, #END]
2:  // eight inputs
  WORD \products
  WORD \products
  ldr r2, [sp, #END]
  cmp r0, r2
  bne 2b
  // The rest, unless this was it.
  ldr r12, [sp, #ROW]
  NEIGHBOURS ROW_PRODUCTS_REST, ROW_PRODUCTS_REST_END
  ldrd r0, r3, [r12, #ROW_PRODUCTS_REST]
  cmp r2, r3
  str r3, [sp, #END]
  bne 2b

  stm sp, {r4-r11}
  NEIGHBOURS ROW_PRODUCTS_OUTPUT, ROW_PRODUCTS_CHANNELS
  ldrd r4, r5, [r12, #ROW_PRODUCTS_OUTPUT]
  NEIGHBOURS ROW_PRODUCTS_SCALES, ROW_PRODUCTS_SCALE_BYTES
  ldrd r11, lr, [r12, #ROW_PRODUCTS_SCALES]
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
  \shifted r0, r0, r2
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
  .ifc \shifted, lsl
  lsl r0, r0, #1
  .else
  asr r0, r0, #11
  .endif
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
  strd r4, r10, [r12, #ROW_PRODUCTS_OUTPUT]
  str r11, [r12, #ROW_PRODUCTS_SCALES]
  cmp r10, #0
  bgt 1b
  add sp, #FRAME
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

  MULTIPLY_ROW cmsis_nn_delegate_multiply_row, EIGHT_CHANNELS, lsl
  MULTIPLY_ROW cmsis_nn_delegate_multiply_nibble_row, EIGHT_NIBBLES, asr

#endif
