// The inner loops of runtime/kernels/common/pair_products_int16.h for Armv7E-M and Armv8-M with DSP.
//
// Products are those of int8, because SMLAD multiplies pairs of 16 bits; inputs need not be widened, only interleaved.
// Inputs and table are 4-byte aligned; windows and outputs need not be, so words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/four_channels_dsp.h"

  .syntax unified
  .thumb

// What PRODUCTS does with weights of 4 bits, 8 more than they are, of which a word has those of four channels and two
// inputs.
.macro NIBBLES a, b
  and lr, r12, #0x000F000F
  smlad \a, r2, lr, \a
  smlad \b, r3, lr, \b
.endm
.macro PRODUCTS_NIBBLES
  ldm r0!, {r2, r3}
  ldr r12, [r1], #4
  NIBBLES r4, r8
  lsr r12, r12, #4
  NIBBLES r5, r9
  lsr r12, r12, #4
  NIBBLES r6, r10
  lsr r12, r12, #4
  NIBBLES r7, r11
.endm

// Puts 8 times the sum of the inputs of each window behind the PairProducts, to be taken from what the sums start with.
#define EIGHT_TIMES PAIR_PRODUCTS_BYTES
#define WITH_EIGHT_TIMES 12
.macro ADD_INPUTS
  ldr r0, [sp, #PAIR_PRODUCTS_INPUTS]
  ldr r12, [sp, #PAIR_PRODUCTS_INPUTS_END]
  mov lr, #0x00080008
  mov r4, #0
  mov r5, #0
7:  // four inputs of both windows
  ldm r0!, {r2, r3, r6, r7}
  smlad r4, r2, lr, r4
  smlad r5, r3, lr, r5
  smlad r4, r6, lr, r4
  smlad r5, r7, lr, r5
  cmp r0, r12
  bne 7b
  strd r4, r5, [sp, #EIGHT_TIMES]
.endm

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

// FINE has the shifts to the left, for the sign and to the right in 8 bits each of its first word: 15 instructions.
.macro REQUANTIZE_FINE a, b
  ldm r1!, {r0, r2, r3}
  lsr lr, r0, #8
  lsl \a, \a, r0
  lsl \b, \b, r0
  lsr r0, r0, #16
  smmlar r12, \a, r2, r3
  lsr \a, \a, lr
  sub \a, r12, \a
  smmlar r12, \b, r2, r3
  lsr \b, \b, lr
  sub \b, r12, \b
  asr \a, \a, r0
  asr \b, \b, r0
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
// void cmsis_nn_delegate_multiply_nibble_pairs_int16_floor(   and _any; the same with weights of 4 bits
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
// channel. With weights of 4 bits, which are 8 more than they stand for, there is one word for each two inputs: in its lower
// half the weights of channels 0 to 3 for the first input, channel 0 in the lowest bits, and in its upper half those for
// the second.
//
// Cost: 63 instructions for 8 inputs of two windows and four channels, 64 products; then 61 for the eight results with
// form FLOOR, 80 with ANY, and 15 more with limits. With weights of 4 bits, 71 instead of 63, 5 more for the eight results
// and 8 more with ANY, which is FINE then, and 14 once for 8 inputs of two windows.
//
// Bounds: a step reads 32 bytes of inputs and of weights, 16 of weights of 4 bits, and inputs are a multiple of that and
// not none: PairWindows::depth(). Blocks have 16 words and one for each input, or for two of them with 4 bits, and there
// are channels / 4, rounded up: init() compares block_words and blocks, so ReadsPast is 0. Four results at a time are stored as two words while four channels
// or more are left, and then the last one to three as halves of these.
.macro MULTIPLY name, requantize, limited, products=PRODUCTS, more=4, less
  FUNCTION \name
  BEGIN_PAIR_PRODUCTS \more
  .ifnb \less
  ADD_INPUTS
  .endif
1:  // four channels
  FOUR_CHANNELS \products, \less
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
  END_PAIR_PRODUCTS \more
  .size \name, .-\name
.endm

  MULTIPLY cmsis_nn_delegate_multiply_pairs_int16_floor, REQUANTIZE_FLOOR, 0
  MULTIPLY cmsis_nn_delegate_multiply_pairs_int16_any, REQUANTIZE_ANY, 1
  MULTIPLY cmsis_nn_delegate_multiply_nibble_pairs_int16_floor, REQUANTIZE_FLOOR, 0, PRODUCTS_NIBBLES, WITH_EIGHT_TIMES, \
           EIGHT_TIMES
  MULTIPLY cmsis_nn_delegate_multiply_nibble_pairs_int16_any, REQUANTIZE_FINE, 1, PRODUCTS_NIBBLES, WITH_EIGHT_TIMES, \
           EIGHT_TIMES

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
  FUNCTION cmsis_nn_delegate_interleave_pairs
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
