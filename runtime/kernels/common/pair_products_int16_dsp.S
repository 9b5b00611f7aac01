// The inner loops of runtime/kernels/common/pair_products_int16.h for Armv7E-M and Armv8-M with DSP.
//
// Products are those of int8, because SMLAD multiplies pairs of 16 bits; inputs need not be widened, only interleaved.
// Inputs and table are 4-byte aligned; windows and outputs need not be, so words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/four_channels_dsp.h"

  .syntax unified
  .thumb

// Requantizes the sums of one channel, with the next three words of the table: 10 and 13 instructions. SMLAL adds the
// product to the halves of both roundings in 64 bits, of which the lower word is not needed any more.
.macro REQUANTIZE_FLOOR a, b
  ldm r1!, {r0, r2, r3}
  mov lr, r3
  mov r12, #0x40000000
  smlal r12, lr, \a, r2
  mov r12, #0x40000000
  smlal r12, r3, \b, r2
  asr \a, lr, r0
  asr \b, r3, r0
  usat \a, #15, \a
  usat \b, #15, \b
.endm
.macro REQUANTIZE_ANY a, b
  ldm r1!, {r0, r2, r3}
  and r12, \a, #0x80000000
  orr r12, r12, #0x40000000
  add lr, r3, \a, asr #31
  smlal r12, lr, \a, r2
  and r12, \b, #0x80000000
  orr r12, r12, #0x40000000
  add r3, r3, \b, asr #31
  smlal r12, r3, \b, r2
  asr \a, lr, r0
  asr \b, r3, r0
  ssat \a, #16, \a
  ssat \b, #16, \b
.endm

// Limits two results at a time: SSUB16 sets two flags for each half whose difference is not negative, and SEL takes the
// bytes of the first one where they are set.
.macro LIMIT word
  ssub16 r12, \word, r2
  sel \word, \word, r2
  ssub16 r12, r3, \word
  sel \word, \word, r3
.endm

// void cmsis_nn_delegate_multiply_pairs_int16_floor(   and _any
//     const PairProductsInt16* products)   r0
//
// Register usage
//   Inputs    r0, and r2 r3 for a pair of both windows
//   Table     r1
//   Weights   r12 lr
//   Sums      r4 r5 r6 r7      first window, by channel; then results in r4 r5
//             r8 r9 r10 r11    second window; results in r8 r9
//   The PairProductsInt16 lies on the stack, at its own offsets.
//
// Layout of the table, for four channels: 4 starts, int32; for each two inputs a word of int8 for channels 0 and 1 and
// one for 2 and 3, of the first input for both channels and then of the second; shift, multiplier and correction of each
// channel.
//
// Cost: 63 instructions for 8 inputs of two windows and four channels, 64 products; then 61 for the eight results with
// form FLOOR, 80 with ANY, and 15 more with limits.
//
// Bounds: a step reads 32 bytes of inputs and of weights, and inputs are a multiple of that and not none:
// PairWindows::depth(). Blocks have 16 words and one for each input, and there are channels / 4, rounded up: init()
// compares block_words and blocks, so ReadsPast is 0. Four results at a time are stored as two words while four channels
// or more are left, and then the last one to three as halves of these.
.macro MULTIPLY name, requantize, limited
  .section .text.\name, "ax", %progbits
  .global \name
  .type \name, %function
  .thumb_func
  .balign 8
\name:
  BEGIN_PAIR_PRODUCTS
1:  // four channels
  FOUR_CHANNELS
  \requantize r4, r8
  \requantize r5, r9
  \requantize r6, r10
  \requantize r7, r11
  pkhbt r4, r4, r5, lsl #16
  pkhbt r5, r6, r7, lsl #16
  pkhbt r8, r8, r9, lsl #16
  pkhbt r9, r10, r11, lsl #16
  .if \limited
  ldrd r2, r3, [sp, #PAIR_PRODUCTS_LEAST]
  cmp r2, #0x80008000
  itt eq
  mvneq r12, r3
  cmpeq r12, r2
  beq 2f  // all of int16
  LIMIT r4
  LIMIT r5
  LIMIT r8
  LIMIT r9
2:
  .endif
  ldrd r2, r3, [sp, #PAIR_PRODUCTS_OUTPUT0]
  ldr r12, [sp, #PAIR_PRODUCTS_CHANNELS]
  subs r12, r12, #4
  blt 3f
  str r4, [r2], #4
  str r5, [r2], #4
  str r8, [r3], #4
  str r9, [r3], #4
  strd r2, r3, [sp, #PAIR_PRODUCTS_OUTPUT0]
  str r12, [sp, #PAIR_PRODUCTS_CHANNELS]
  bne 1b
  b 5f
3:  // the last one to three channels
  adds r12, r12, #4
4:
  strh r4, [r2], #2
  strh r8, [r3], #2
  lsr r4, r4, #16
  lsr r8, r8, #16
  pkhbt r4, r4, r5, lsl #16
  pkhbt r8, r8, r9, lsl #16
  subs r12, r12, #1
  bne 4b
5:
  END_PAIR_PRODUCTS
  .size \name, .-\name
.endm

  MULTIPLY cmsis_nn_delegate_multiply_pairs_int16_floor, REQUANTIZE_FLOOR, 0
  MULTIPLY cmsis_nn_delegate_multiply_pairs_int16_any, REQUANTIZE_ANY, 1

// void cmsis_nn_delegate_interleave_pairs(
//     const int16_t* a,  r0
//     const int16_t* b,  r1
//     int32_t* out,      r2
//     int32_t words)     r3
//
// Register usage: r4 r6 four inputs of `a`; r5 r7 of `b`.
//
// Cost: 7 instructions for 4 inputs of two windows.
//
// Bounds: reads 8 bytes of `a` and `b` and writes 16 bytes, `words` times, which is at least 1. Callers give whole fours
// of a window; what is left of its segments is put there in C++.
  .section .text.cmsis_nn_delegate_interleave_pairs, "ax", %progbits
  .global cmsis_nn_delegate_interleave_pairs
  .type cmsis_nn_delegate_interleave_pairs, %function
  .thumb_func
  .balign 8
cmsis_nn_delegate_interleave_pairs:
  push {r4-r7, lr}
1:
  ldr r4, [r0], #8
  ldr r5, [r1], #8
  subs r3, r3, #1
  ldr r6, [r0, #-4]
  ldr r7, [r1, #-4]
  stm r2!, {r4, r5, r6, r7}
  bne 1b
  pop {r4-r7, pc}
  .size cmsis_nn_delegate_interleave_pairs, .-cmsis_nn_delegate_interleave_pairs

#endif
