// The inner loop of runtime/kernels/portable/row_products.h for Armv7E-M and Armv8-M with DSP.
//
// Eight channels take eight registers for sums, so a word of inputs is loaded once for each of its two pairs.
// The table is 4-byte aligned; inputs need not be, so word loads have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

  .syntax unified
  .thumb

// Offsets in RowProducts.
#define INPUT 0
#define REST 8
#define REST_END 12
#define TABLE 16
#define OUTPUT 20
#define FORM 28
#define SCALES 32
#define SCALE_BYTES 36
#define LEAST 40

// The frame: the sums of a block, the RowProducts, and where the inputs that are being read end.
#define ROW 32
#define END 36
#define FRAME 44  // with the saved registers, a multiple of 8

// Multiplies the pair of inputs in r3 with the weights of eight channels, from r1; r4-r11 are the sums.
.macro PRODUCTS
  ldrd r12, lr, [r1], #16
  sxtb16 r2, r12
  sxtb16 r12, r12, ror #8
  smlad r4, r3, r2, r4
  smlad r5, r3, r12, r5
  sxtb16 r2, lr
  sxtb16 lr, lr, ror #8
  smlad r6, r3, r2, r6
  smlad r7, r3, lr, r7
  ldrd r12, lr, [r1, #-8]
  sxtb16 r2, r12
  sxtb16 r12, r12, ror #8
  smlad r8, r3, r2, r8
  smlad r9, r3, r12, r9
  sxtb16 r2, lr
  sxtb16 lr, lr, ror #8
  smlad r10, r3, r2, r10
  smlad r11, r3, lr, r11
.endm

// Four inputs, from r0.
.macro WORD
  ldr r3, [r0]
  sxtb16 r3, r3
  PRODUCTS
  ldr r3, [r0], #4
  sxtb16 r3, r3, ror #8
  PRODUCTS
.endm

  .section .text.cmsis_nn_delegate_multiply_row, "ax", %progbits
  .global cmsis_nn_delegate_multiply_row
  .type cmsis_nn_delegate_multiply_row, %function
  .thumb_func
  .balign 8
cmsis_nn_delegate_multiply_row:  // (products)
  push {r4-r11, lr}
  sub sp, #FRAME
  str r0, [sp, #ROW]
  ldr r1, [r0, #TABLE]
1:  // eight channels
  ldr r12, [sp, #ROW]
  ldm r1!, {r4-r11}
  ldrd r0, r2, [r12, #INPUT]
  str r2, [sp, #END]
2:  // eight inputs
  WORD
  WORD
  ldr r2, [sp, #END]
  cmp r0, r2
  bne 2b
  // The rest, unless this was it.
  ldr r12, [sp, #ROW]
  ldrd r0, r3, [r12, #REST]
  cmp r2, r3
  str r3, [sp, #END]
  bne 2b

  stm sp, {r4-r11}
  ldrd r4, r5, [r12, #OUTPUT]  // and channels
  ldrd r11, lr, [r12, #SCALES]
  ldr r7, [r12, #FORM]
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
  ldrd r8, r9, [r12, #LEAST]
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
  strd r4, r10, [r12, #OUTPUT]
  str r11, [r12, #SCALES]
  cmp r10, #0
  bgt 1b
  add sp, #FRAME
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_multiply_row, .-cmsis_nn_delegate_multiply_row

#endif
