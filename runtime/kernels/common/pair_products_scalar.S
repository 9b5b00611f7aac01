// The sums of runtime/kernels/common/pair_products_scalar.h, for cores without DSP.
//
// Inputs and table are 4-byte aligned. Sums are stored as those of the first channel in both windows, of the second
// channel, and so on.
#if defined(__ARM_ARCH_ISA_THUMB) && !(defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP) && \
    !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

  .syntax unified
  .thumb

// void cmsis_nn_delegate_add_pairs(
//     const int32_t* inputs,       r0
//     const int32_t* table,        r1   at the channels
//     int32_t* sums,               r2
//     const int32_t* inputs_end)   r3   then in lr
//
// Register usage: at the macros, which are others for Armv6-M.
//
// Layout of inputs: a word for each, of both windows, see ScalarPairProducts::widen. Of the table, for four channels: 4
// starts, int32; for each two inputs a word of int8 for channels 0 and 1 and one for 2 and 3, of the first input for both
// channels and then of the second; 12 words to requantize with, which are not used here.
//
// Cost, for 8 inputs of two windows and four channels, 64 products: 116 instructions with MLA, 196 on Armv6-M.
//
// Bounds: a step reads 32 bytes of inputs and of weights, and inputs are a multiple of that and not none, which
// PairWindows::depth() is and init() compares with block_words. On Armv6-M, the second time over the weights begins
// with their second word, so that it reads one word behind them: the first one to requantize with. Writes 8 words at
// `sums`. ReadsPast is 0.
  .section .text.cmsis_nn_delegate_add_pairs, "ax", %progbits
  .global cmsis_nn_delegate_add_pairs
  .type cmsis_nn_delegate_add_pairs, %function
  .thumb_func
  .balign 8

#if __ARM_ARCH_ISA_THUMB >= 2
// One MLA for each product. A load of a weight serves two of them, a load of an input four.

// r0 inputs, r1 weights; r4 r5 sums of the first channel in both windows, r6 r7 of the second, and so on.
.macro INPUT input, first, second, third, fourth
  ldrsh r2, [r0, #(4 * (\input))]
  ldrsh r3, [r0, #(4 * (\input) + 2)]
  ldrsb r12, [r1, #(\first)]
  mla r4, r2, r12, r4
  mla r5, r3, r12, r5
  ldrsb r12, [r1, #(\second)]
  mla r6, r2, r12, r6
  mla r7, r3, r12, r7
  ldrsb r12, [r1, #(\third)]
  mla r8, r2, r12, r8
  mla r9, r3, r12, r9
  ldrsb r12, [r1, #(\fourth)]
  mla r10, r2, r12, r10
  mla r11, r3, r12, r11
.endm
.macro PAIR pair
  INPUT 2*\pair, 8*\pair, 8*\pair+1, 8*\pair+4, 8*\pair+5
  INPUT 2*\pair+1, 8*\pair+2, 8*\pair+3, 8*\pair+6, 8*\pair+7
.endm

cmsis_nn_delegate_add_pairs:
  push {r2, r4-r11, lr}
  mov lr, r3
  ldm r1!, {r4, r6, r8, r10}
  mov r5, r4
  mov r7, r6
  mov r9, r8
  mov r11, r10
1:  // eight inputs
  PAIR 0
  PAIR 1
  PAIR 2
  PAIR 3
  adds r0, #32
  adds r1, #32
  cmp r0, lr
  bne 1b
  pop {r2}
  stm r2, {r4-r11}
  pop {r4-r11, pc}

#else
// One MULS multiplies inputs of both windows with a weight: a word is the sum of the first one's input and 2^16 times the
// second one's. Each half has room for the sum of two products, at least -2 * 128 * 127 and at most 2 * 128 * 128.
// BIAS makes it positive, so that nothing is borrowed from the other half.
//
// A word of weights has those of two channels, so the function goes twice over inputs and weights.
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
#endif
  .size cmsis_nn_delegate_add_pairs, .-cmsis_nn_delegate_add_pairs

#endif
