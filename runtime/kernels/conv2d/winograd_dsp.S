// The inner loop of runtime/kernels/conv2d/winograd.h for Armv7E-M and Armv8-M with DSP.
//
// The products of two tiles with four channels take 8 registers for sums. Weights are pairs of int16, as inputs are,
// so that nothing is widened here: three loads of two words each serve 16 products.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/tuned/assembly.h"

  .syntax unified
  .thumb

// On the stack.
#define PRODUCTS 0
#define POSITION_BYTES 4
#define POSITION_END 8
#define END 12
#define FRAME_BYTES 20

// r0 inputs, r1 weights, r4-r7 sums of the first tile, r8-r11 of the second, r2 r3 inputs, r12 lr weights.
.macro PAIR
  ldrd r2, r3, [r0], #8
  ldrd r12, lr, [r1], #8
  smlad r4, r2, r12, r4
  smlad r8, r3, r12, r8
  smlad r5, r2, lr, r5
  smlad r9, r3, lr, r9
  ldrd r12, lr, [r1], #8
  smlad r6, r2, r12, r6
  smlad r10, r3, r12, r10
  smlad r7, r2, lr, r7
  smlad r11, r3, lr, r11
.endm
.macro FIRST_PAIR
  ldrd r2, r3, [r0], #8
  ldrd r12, lr, [r1], #8
  smuad r4, r2, r12
  smuad r8, r3, r12
  smuad r5, r2, lr
  smuad r9, r3, lr
  ldrd r12, lr, [r1], #8
  smuad r6, r2, r12
  smuad r10, r3, r12
  smuad r7, r2, lr
  smuad r11, r3, lr
.endm

// void cmsis_nn_delegate_multiply_winograd(
//     const int32_t* inputs,    r0
//     const int32_t* weights,   r1
//     int32_t* products,        r2   then on the stack
//     int32_t depth)            r3   then on the stack, as bytes of a position
//
// Register usage
//   Inputs    r0, and r2 r3 for a pair of both tiles
//   Weights   r1, and r12 lr for pairs of two channels
//   Sums      r4 r5 r6 r7      first tile, by channel
//             r8 r9 r10 r11    second tile
//
// Layout: inputs[position][pair][tile] and weights[position][pair][channel] of two int16, products[position][tile][channel]
// of int32, with 16 positions, 2 tiles, 4 channels and depth / 2 pairs.
//
// Cost: 47 instructions for 8 inputs of two tiles and four channels, 64 products, and 8 a position.
//
// Bounds: a step reads 32 bytes of inputs and 64 of weights; `depth` is a multiple of 8 and not 0, see
// winograd::depth(). So 16 * depth words of inputs are read, which is what scratch memory has, and 32 * depth of
// weights, which are followed by the scales of the block: init() compares block_words and blocks, so ReadsPast is 0.
// Writes 16 * 8 words, kProducts.
  FUNCTION cmsis_nn_delegate_multiply_winograd
  push {r4-r11, lr}
  sub sp, #FRAME_BYTES
  lsl r3, r3, #2  // bytes of a position: a pair of both tiles for each two inputs
  add r12, r0, r3
  add lr, r0, r3, lsl #4
  stm sp, {r2, r3, r12, lr}
1:  // a position
  FIRST_PAIR
  PAIR
  PAIR
  PAIR
  ldr r12, [sp, #POSITION_END]
  cmp r0, r12
  beq 3f
2:  // eight inputs
  PAIR
  PAIR
  PAIR
  PAIR
  ldr r12, [sp, #POSITION_END]
  cmp r0, r12
  bne 2b
3:
  ldrd r2, r3, [sp, #PRODUCTS]
  stm r2!, {r4-r11}
  add r12, r12, r3
  ldr r3, [sp, #END]
  str r2, [sp, #PRODUCTS]
  str r12, [sp, #POSITION_END]
  cmp r0, r3
  bne 1b
  add sp, #FRAME_BYTES
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_multiply_winograd, .-cmsis_nn_delegate_multiply_winograd

#endif
