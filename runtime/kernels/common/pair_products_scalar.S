// The inner loops of runtime/kernels/common/pair_products_scalar.h, for cores without DSP: all of them, and on
// Armv6-M the sums alone.
//
// Inputs and table are 4-byte aligned.
#if defined(__ARM_ARCH_ISA_THUMB) && !(defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP) && \
    !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/pair_products_members.h"

  .syntax unified
  .thumb

// Layout of inputs: a word for each, of both windows, see ScalarPairProducts::widen. Of the table, for four channels: 4
// starts, int32; for each two inputs a word of int8 for channels 0 and 1 and one for 2 and 3, of the first input for
// both channels and then of the second; shift, multiplier and correction of each channel.
#if __ARM_ARCH_ISA_THUMB >= 2
// void cmsis_nn_delegate_multiply_pairs_floor(   and _any
//     const PairProducts* products)   r0
//
// Register usage
//   Inputs    r0, and r2 r3 for one of both windows
//   Table     r1
//   Weight    r12
//   Sums      r4 r5 r6 r7      first window, by channel
//             r8 r9 r10 r11    second window
//   End       lr               of the inputs
//   The PairProducts lies on the stack, at its own offsets.
//
// Cost: one MLA for each product; a load of a weight serves two of them, a load of an input four. That is 114
// instructions for 8 inputs of two windows and four channels, 64 products; then 57 for the eight results with form
// FLOOR and 123 with ANY, of which 50 are for limits.
//
// Bounds: a step reads 32 bytes of inputs and of weights, and inputs are a multiple of that and not none:
// PairWindows::depth(). Blocks have 16 words and one for each input. There are channels / 4, rounded up: init()
// compares block_words and blocks, so ReadsPast is 0. Four results at a time are stored as a word while four channels
// or more are left, and then the last one to three as bytes.
#define FRAME PAIR_PRODUCTS_BYTES + 4

// The products of a weight.
.macro WEIGHT a, b, at:vararg
  ldrsb r12, \at
  mla \a, r2, r12, \a
  mla \b, r3, r12, \b
.endm
.macro INPUT input, first, second, third, fourth
  ldrsh r2, [r0, #(4 * (\input))]
  ldrsh r3, [r0, #(4 * (\input) + 2)]
  WEIGHT r4, r8, [r1, #(\first)]
  WEIGHT r5, r9, [r1, #(\second)]
  WEIGHT r6, r10, [r1, #(\third)]
  WEIGHT r7, r11, [r1, #(\fourth)]
.endm
.macro EVEN pair
  INPUT 2*\pair, 8*\pair, 8*\pair+1, 8*\pair+4, 8*\pair+5
.endm
.macro ODD pair
  INPUT 2*\pair+1, 8*\pair+2, 8*\pair+3, 8*\pair+6, 8*\pair+7
.endm
// The first of eight inputs, after the others: its loads go on to the next eight.
.macro FIRST_AND_ON
  ldrsh r3, [r0, #2]
  ldrsh r2, [r0], #32
  WEIGHT r5, r9, [r1, #1]
  WEIGHT r6, r10, [r1, #4]
  WEIGHT r7, r11, [r1, #5]
  WEIGHT r4, r8, [r1], #32
.endm

// Requantizes the sums of a channel, with the next three words of the table.
.macro REQUANTIZE_FLOOR a, b
  ldm r1!, {r0, r2, r3}
  lsl \a, \a, r0
  lsl \b, \b, r0
  smull r12, \a, \a, r2
  smull r12, \b, \b, r2
  add \a, \a, r3
  add \b, \b, r3
  ssat \a, #8, \a, asr #12
  ssat \b, #8, \b, asr #12
.endm
.macro REQUANTIZE_ANY a, b
  ldm r1!, {r0, r2, r3}
  SCALE_ANY \a
  SCALE_ANY \b
.endm
// The highest bit of the low word rounds the product: ADDS makes it the carry.
.macro SCALE_ANY sum
  lsl \sum, \sum, #1
  smull r12, lr, \sum, r2
  adds r12, r12, r12
  adc lr, lr, r3
  add \sum, lr, \sum, asr #31
  asr \sum, \sum, r0
.endm

// r2 least, r3 most
.macro LIMIT results:vararg
  .irp result, \results
  cmp \result, r2
  it lt
  movlt \result, r2
  cmp \result, r3
  it gt
  movgt \result, r3
  .endr
.endm

.macro PACK a, b, c, d
  bfi \a, \b, #8, #8
  bfi \a, \c, #16, #8
  bfi \a, \d, #24, #8
.endm

.macro MULTIPLY name, requantize, limited
  FUNCTION \name
  push {r4-r11, lr}
  NEIGHBOURS PAIR_PRODUCTS_INPUTS, PAIR_PRODUCTS_INPUTS_END, PAIR_PRODUCTS_TABLE, PAIR_PRODUCTS_OUTPUT0, \
             PAIR_PRODUCTS_OUTPUT1, PAIR_PRODUCTS_CHANNELS, PAIR_PRODUCTS_LEAST, PAIR_PRODUCTS_MOST, \
             PAIR_PRODUCTS_BYTES
  ldm r0, {r1-r8}
  sub sp, #FRAME
  stm sp, {r1-r8}
  mov r1, r3
1:  // four channels
  ldrd r0, lr, [sp, #PAIR_PRODUCTS_INPUTS]
  ldm r1!, {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
2:  // eight inputs
  ODD 0
  EVEN 1
  ODD 1
  EVEN 2
  ODD 2
  EVEN 3
  ODD 3
  FIRST_AND_ON
  cmp r0, lr
  bne 2b
  \requantize r4, r8
  \requantize r5, r9
  \requantize r6, r10
  \requantize r7, r11
  .if \limited
  ldrsb r2, [sp, #PAIR_PRODUCTS_LEAST]
  ldrsb r3, [sp, #PAIR_PRODUCTS_MOST]
  LIMIT r4, r5, r6, r7, r8, r9, r10, r11
  .endif
  PACK r4, r5, r6, r7
  PACK r8, r9, r10, r11
  ldrd r2, r3, [sp, #PAIR_PRODUCTS_OUTPUT0]
  ldr r12, [sp, #PAIR_PRODUCTS_CHANNELS]
  subs r12, r12, #4
  blt 3f
  str r4, [r2], #4
  str r8, [r3], #4
  strd r2, r3, [sp, #PAIR_PRODUCTS_OUTPUT0]
  str r12, [sp, #PAIR_PRODUCTS_CHANNELS]
  bne 1b
  b 5f
3:  // the last one to three channels
  adds r12, r12, #4
4:
  strb r4, [r2], #1
  strb r8, [r3], #1
  lsr r4, r4, #8
  lsr r8, r8, #8
  subs r12, r12, #1
  bne 4b
5:
  add sp, #FRAME
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

  MULTIPLY cmsis_nn_delegate_multiply_pairs_floor, REQUANTIZE_FLOOR, 0
  MULTIPLY cmsis_nn_delegate_multiply_pairs_any, REQUANTIZE_ANY, 1

#else
// void cmsis_nn_delegate_add_pairs(
//     const int32_t* inputs,       r0
//     const int32_t* table,        r1   at the channels
//     int32_t* sums,               r2
//     const int32_t* inputs_end)   r3   then in lr
//
// Sums are stored as those of the first channel in both windows, of the second channel, and so on. The words to
// requantize with are not used.
//
// Register usage: at the macros.
//
// Cost, for 8 inputs of two windows and four channels, 64 products: 196 instructions.
//
// Bounds: a step reads 32 bytes of inputs and of weights, and inputs are a multiple of that and not none, which
// PairWindows::depth() is and init() compares with block_words. The second time over the weights begins with their
// second word, so that it reads one word behind them: the first one to requantize with. Writes 8 words at `sums`.
// ReadsPast is 0.
//
// One MULS multiplies inputs of both windows with a weight: a word is the sum of the first one's input and 2^16 times
// the second one's. Each half has room for the sum of two products, at least -2 * 128 * 127 and at most 2 * 128 * 128.
// BIAS makes it positive, so that nothing is borrowed from the other half.
//
// A word of weights has those of two channels, so the function goes twice over inputs and weights.
  .section .text.cmsis_nn_delegate_add_pairs, "ax", %progbits
  .global cmsis_nn_delegate_add_pairs
  .type cmsis_nn_delegate_add_pairs, %function
  .thumb_func
  .balign 8
#define BIAS 0x7F00

// What lies on the stack.
#define INPUTS 0
#define TABLE 4
#define SUMS 8
#define ALL_BIASES 12
#define WEIGHTS 16
#define SECOND 20
#define FRAME 24

// Adds the halves of r6 to the sums of both windows.
.macro SPLIT first, second
  add r6, r12
  lsrs r7, r6, #16
  uxth r6, r6
  add \first, r6
  add \second, r7
.endm

// Two inputs. r0 inputs, r1 weights; r8 r9 sums of the first channel in both windows, r10 r11 of the second; r12 BIAS
// in both halves. The second word of weights is of other channels.
.macro PAIR
  ldm r0!, {r2, r3}
  ldm r1!, {r4, r5}
  sxtb r5, r4
  muls r5, r2
  lsls r6, r4, #8
  asrs r6, r6, #24
  muls r6, r3
  adds r6, r5
  SPLIT r8, r9
  lsls r5, r4, #16
  asrs r5, r5, #24
  muls r5, r2
  asrs r6, r4, #24
  muls r6, r3
  adds r6, r5
  SPLIT r10, r11
.endm

cmsis_nn_delegate_add_pairs:
  LANDING_PAD
  push {r4-r7, lr}
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  push {r4-r7}
  sub sp, #FRAME
  mov lr, r3
  str r0, [sp, #INPUTS]
  str r1, [sp, #TABLE]
  str r2, [sp, #SUMS]
  adds r1, #16
  str r1, [sp, #WEIGHTS]
  ldr r4, =BIAS
  subs r3, r3, r0
  lsrs r3, r3, #3
  muls r3, r4
  str r3, [sp, #ALL_BIASES]
  lsls r5, r4, #16
  orrs r5, r4
  mov r12, r5
  movs r5, #0
1:  // two channels
  str r5, [sp, #SECOND]
  ldr r1, [sp, #TABLE]
  ldm r1!, {r4, r5}
  str r1, [sp, #TABLE]
  subs r4, r4, r3
  subs r5, r5, r3
  mov r8, r4
  mov r9, r4
  mov r10, r5
  mov r11, r5
  ldr r0, [sp, #INPUTS]
  ldr r1, [sp, #WEIGHTS]
2:  // eight inputs
  PAIR
  PAIR
  PAIR
  PAIR
  cmp r0, lr
  bne 2b
  ldr r2, [sp, #SUMS]
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  stm r2!, {r4-r7}
  str r2, [sp, #SUMS]
  ldr r1, [sp, #WEIGHTS]
  adds r1, #4
  str r1, [sp, #WEIGHTS]
  ldr r3, [sp, #ALL_BIASES]
  ldr r5, [sp, #SECOND]
  cmp r5, #0
  bne 3f
  movs r5, #1
  b 1b
3:
  add sp, #FRAME
  pop {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  pop {r4-r7, pc}
  .balign 4
  .ltorg
  .size cmsis_nn_delegate_add_pairs, .-cmsis_nn_delegate_add_pairs
#endif

#endif
