// The inner loops of runtime/kernels/portable/pair_products.h for Armv7E-M and Armv8-M with DSP.
//
// Each sum of two products is one SMLAD. 2 windows by 4 channels take 8 registers for sums; a word of
// weights is widened with SXTB16 when it is needed, so two registers suffice for them, and two for inputs.
// Inputs and table are 4-byte aligned; outputs need not be, so word stores have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

  .syntax unified
  .thumb

// Offsets in PairProducts, which lies on the stack while a function runs.
#define INPUTS 0
#define INPUTS_END 4
#define TABLE 8
#define OUTPUT0 12
#define CHANNELS 20
#define LEAST 24
#define PAIR_PRODUCTS_BYTES 32

// r0 inputs, r1 table, r4-r7 sums of the first window, r8-r11 of the second, r2 r3 inputs, r12 lr weights.
// Multiplies two inputs of both windows with the weights of four channels.
.macro PRODUCTS
  ldm r0!, {r2, r3}
  ldr r12, [r1], #4
  sxtb16 lr, r12
  sxtb16 r12, r12, ror #8
  smlad r4, r2, lr, r4
  smlad r8, r3, lr, r8
  smlad r5, r2, r12, r5
  smlad r9, r3, r12, r9
  ldr r12, [r1], #4
  sxtb16 lr, r12
  sxtb16 r12, r12, ror #8
  smlad r6, r2, lr, r6
  smlad r10, r3, lr, r10
  smlad r7, r2, r12, r7
  smlad r11, r3, r12, r11
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
  smmlar r12, \a, r2, r3
  add \a, r12, \a, asr #31
  smmlar r12, \b, r2, r3
  add \b, r12, \b, asr #31
  asr \a, \a, r0
  asr \b, \b, r0
  ssat \a, #8, \a
  ssat \b, #8, \b
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

.macro MULTIPLY name, requantize, limited
  .section .text.\name, "ax", %progbits
  .global \name
  .type \name, %function
  .thumb_func
  .balign 8
\name:
  push {r4-r11, lr}
  ldm r0, {r1-r8}
  sub sp, #PAIR_PRODUCTS_BYTES + 4
  stm sp, {r1-r8}
  mov r1, r3
1:  // four channels
  ldr r0, [sp, #INPUTS]
  ldm r1!, {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
2:  // eight inputs
  PRODUCTS
  PRODUCTS
  PRODUCTS
  PRODUCTS
  ldr lr, [sp, #INPUTS_END]
  cmp r0, lr
  bne 2b
  \requantize r4, r8
  \requantize r5, r9
  \requantize r6, r10
  \requantize r7, r11
  PACK r4, r5, r6, r7
  PACK r8, r9, r10, r11
  .if \limited
  ldrd r2, r3, [sp, #LEAST]
  LIMIT r4
  LIMIT r8
  .endif
  ldrd r2, r3, [sp, #OUTPUT0]
  ldr r12, [sp, #CHANNELS]
  subs r12, r12, #4
  blt 3f
  str r4, [r2], #4
  str r8, [r3], #4
  strd r2, r3, [sp, #OUTPUT0]
  str r12, [sp, #CHANNELS]
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
  add sp, #PAIR_PRODUCTS_BYTES + 4
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

  MULTIPLY cmsis_nn_delegate_multiply_pairs_floor, REQUANTIZE_FLOOR, 0
  MULTIPLY cmsis_nn_delegate_multiply_pairs_any, REQUANTIZE_ANY, 1

  .section .text.cmsis_nn_delegate_widen_pairs, "ax", %progbits
  .global cmsis_nn_delegate_widen_pairs
  .type cmsis_nn_delegate_widen_pairs, %function
  .thumb_func
  .balign 8
cmsis_nn_delegate_widen_pairs:  // (a, b, out, words)
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
