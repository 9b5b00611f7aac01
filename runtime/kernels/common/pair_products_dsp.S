// The inner loops of runtime/kernels/common/pair_products.h for Armv7E-M and Armv8-M with DSP.
//
// Each sum of two products is one SMLAD. 2 windows by 4 channels take 8 registers for sums; a word of
// weights is widened with SXTB16 when it is needed, so two registers suffice for them, and two for inputs.
// Inputs and table are 4-byte aligned; outputs need not be, so word stores have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/four_channels_dsp.h"

  .syntax unified
  .thumb

// What PRODUCTS does with weights of 4 bits, of which a word has those of four channels and two inputs. Each becomes the upper 4 of
// 16 bits, so that a mask is all that a channel needs, and sums are 2^12 times as large.
.macro NIBBLES a, b
  and lr, r12, #0xF000F000
  smlad \a, r2, lr, \a
  smlad \b, r3, lr, \b
.endm
.macro PRODUCTS_NIBBLES
  ldm r0!, {r2, r3}
  ldr r12, [r1], #4
  NIBBLES r7, r11
  lsl r12, r12, #4
  NIBBLES r6, r10
  lsl r12, r12, #4
  NIBBLES r5, r9
  lsl r12, r12, #4
  NIBBLES r4, r8
.endm

// Requantizes the sums of one channel, with the next three words of the table.
.macro REQUANTIZE_FLOOR a, b
  ldm r1!, {r0, r2, r3}
  lsl \a, \a, r0
  lsl \b, \b, r0
  smmla \a, \a, r2, r3
  smmla \b, \b, r2, r3
  ssat \a, #8, \a, asr #12
  ssat \b, #8, \b, asr #12
.endm
.macro REQUANTIZE_ANY a, b
  ldm r1!, {r0, r2, r3}
  lsl \a, \a, #1
  lsl \b, \b, #1
  SCALE_ANY \a, \b
.endm
.macro SCALE_ANY a, b
  smmlar r12, \a, r2, r3
  add \a, r12, \a, asr #31
  smmlar r12, \b, r2, r3
  add \b, r12, \b, asr #31
  asr \a, \a, r0
  asr \b, \b, r0
  ssat \a, #8, \a
  ssat \b, #8, \b
.endm

// The same of sums that are 2^12 times as large and have the shift in their lowest bits, with the next word of the table.
// lr has the word that all channels of the block share.
.macro COMMON_WORD
  ldr lr, [r1], #4
.endm
.macro REQUANTIZE_NIBBLES_FLOOR a, b
  ldr r2, [r1], #4
  and r0, \a, #15
  lsr r3, lr, r0
  sub r3, r3, #(128 << 12) - (1 << 11)
  asr \a, \a, r0
  asr \b, \b, r0
  smmla \a, \a, r2, r3
  smmla \b, \b, r2, r3
  ssat \a, #8, \a, asr #12
  ssat \b, #8, \b, asr #12
.endm
.macro REQUANTIZE_NIBBLES_ANY a, b
  ldr r2, [r1], #4
  and r0, \a, #31
  lsl r3, lr, r0
  add r0, r0, #1
  asr \a, \a, #11
  asr \b, \b, #11
  SCALE_ANY \a, \b
.endm

.macro PACK a, b, c, d
  bfi \a, \b, #8, #8
  bfi \a, \c, #16, #8
  bfi \a, \d, #24, #8
.endm

// Limits four results at a time: SSUB8 sets a flag for each byte whose difference is not negative, and SEL
// takes the first byte where it is set.
.macro LIMIT word
  ssub8 r12, \word, r2
  sel \word, \word, r2
  ssub8 r12, r3, \word
  sel \word, \word, r3
.endm

// void cmsis_nn_delegate_multiply_pairs_floor(   and _any
//     const PairProducts* products)   r0
// void cmsis_nn_delegate_multiply_joint_pairs_floor(   and _any; the same with weights of two channels in 16 bits
// void cmsis_nn_delegate_multiply_nibble_pairs_floor(   and _any; the same with weights of 4 bits
//
// Register usage
//   Inputs    r0, and r2 r3 for a pair of both windows
//   Table     r1
//   Weights   r12 lr
//   Sums      r4 r5 r6 r7      first window, by channel
//             r8 r9 r10 r11    second window
//   The PairProducts lies on the stack, at its own offsets.
//
// Layout of the table, for four channels: 4 starts, int32; for each two inputs a word of int8 for channels 0 and 1 and
// one for 2 and 3, of the first input for both channels and then of the second; shift, multiplier and correction of each
// channel. With weights of two channels in 16 bits, starts and weights of channels 1 and 3 are 256 times their own and those of
// 0 and 2. With weights of 4 bits, starts are 2^12 times as large, and there is one word for each two inputs: in its lower
// half the weights of channels 0 to 3 for the first input, channel 0 in the lowest bits, and in its upper half those for
// the second. Starts have shifts in their lowest bits, for ANY less one; after the weights come the word that NibbleSumFloor
// and NibbleSumAny read, and the multipliers.
//
// Cost: 63 instructions for 8 inputs of two windows and four channels, 64 products; then 49 for the eight results with
// form FLOOR, 74 with ANY, of which 9 are for limits. With weights of two channels in 16 bits, 51 instead of 63, and then 57
// and 82. With weights of 4 bits, 71 instead of 63, and then 62 and 87.
//
// Bounds: a step reads 32 bytes of inputs and of weights, 16 of weights of 4 bits, and inputs are a multiple of that and
// not none: PairWindows::depth(). Blocks have 16 words and one for each input; with 4 bits 9, and one for each two
// inputs. There are channels / 4, rounded up: init() compares block_words and blocks, so ReadsPast is 0. Four results at a time are
// stored as a word while four channels or more are left, and then the last one to three as bytes.
.macro MULTIPLY name, products, requantize, limited, prepare
  .section .text.\name, "ax", %progbits
  .global \name
  .type \name, %function
  .thumb_func
  .balign 8
\name:
  BEGIN_PAIR_PRODUCTS
1:  // four channels
  FOUR_CHANNELS \products
  \prepare
  \requantize r4, r8
  \requantize r5, r9
  \requantize r6, r10
  \requantize r7, r11
  PACK r4, r5, r6, r7
  PACK r8, r9, r10, r11
  .if \limited
  ldrd r2, r3, [sp, #PAIR_PRODUCTS_LEAST]
  LIMIT r4
  LIMIT r8
  .endif
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
  END_PAIR_PRODUCTS
  .size \name, .-\name
.endm

  MULTIPLY cmsis_nn_delegate_multiply_pairs_floor, PRODUCTS, REQUANTIZE_FLOOR, 0
  MULTIPLY cmsis_nn_delegate_multiply_pairs_any, PRODUCTS, REQUANTIZE_ANY, 1
  MULTIPLY cmsis_nn_delegate_multiply_joint_pairs_floor, PRODUCTS_JOINT, REQUANTIZE_FLOOR, 0, SEPARATE_EIGHT
  MULTIPLY cmsis_nn_delegate_multiply_joint_pairs_any, PRODUCTS_JOINT, REQUANTIZE_ANY, 1, SEPARATE_EIGHT
  MULTIPLY cmsis_nn_delegate_multiply_nibble_pairs_floor, PRODUCTS_NIBBLES, REQUANTIZE_NIBBLES_FLOOR, 0, COMMON_WORD
  MULTIPLY cmsis_nn_delegate_multiply_nibble_pairs_any, PRODUCTS_NIBBLES, REQUANTIZE_NIBBLES_ANY, 1, COMMON_WORD

// void cmsis_nn_delegate_widen_pairs(
//     const int8_t* a,   r0
//     const int8_t* b,   r1
//     int32_t* out,      r2
//     int32_t words)     r3
//
// Register usage: r4 r5 words of `a` and `b`; r6 r12 pairs of `a`, r7 lr of `b`.
//
// Cost: 9 instructions for 4 inputs of two windows.
//
// Bounds: reads 4 bytes of `a` and `b` and writes 16 bytes, `words` times, which is at least 1. Callers give whole words
// of a window; what is left of its segments is widened in C++.
  .section .text.cmsis_nn_delegate_widen_pairs, "ax", %progbits
  .global cmsis_nn_delegate_widen_pairs
  .type cmsis_nn_delegate_widen_pairs, %function
  .thumb_func
  .balign 8
cmsis_nn_delegate_widen_pairs:
  push {r4-r7, lr}
1:
  ldr r4, [r0], #4
  ldr r5, [r1], #4
  subs r3, r3, #1
  sxtb16 r6, r4
  sxtb16 r7, r5
  sxtb16 r12, r4, ror #8
  sxtb16 lr, r5, ror #8
  stm r2!, {r6, r7, r12, lr}
  bne 1b
  pop {r4-r7, pc}
  .size cmsis_nn_delegate_widen_pairs, .-cmsis_nn_delegate_widen_pairs

#endif
