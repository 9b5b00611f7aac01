// The sums of runtime/kernels/tuned/row_products_scalar.h for Armv6-M and Armv8-M without the main extension, where
// the compiler takes half as many instructions again.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB < 2

  .syntax unified
  .thumb

// Multiplies the inputs in r2 and r3 with a word of weights of two channels; r5 r6 are temporary.
.macro PRODUCTS offset, first, second
  ldr r4, [r1, #\offset]
  sxtb r5, r4
  muls r5, r2
  lsls r6, r4, #8
  asrs r6, r6, #24
  muls r6, r3
  adds r5, r6
  add \first, r5
  lsls r5, r4, #16
  asrs r5, r5, #24
  muls r5, r2
  asrs r4, r4, #24
  muls r4, r3
  adds r4, r5
  add \second, r4
.endm

// Two inputs, which lie at r0 + \low and r0 + \high.
.macro PAIR low, high, offset
  movs r2, #\low
  ldrsb r2, [r0, r2]
  movs r3, #\high
  ldrsb r3, [r0, r3]
  PRODUCTS \offset, r8, r9
  PRODUCTS \offset+4, r10, r11
.endm

  .section .text.cmsis_nn_delegate_add_row, "ax", %progbits
  .global cmsis_nn_delegate_add_row
  .type cmsis_nn_delegate_add_row, %function
  .thumb_func
  .balign 8
cmsis_nn_delegate_add_row:  // (sums, input, end, weights)
  push {r0, r4-r7, lr}
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  push {r4-r7}
  ldm r0!, {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  mov r0, r1
  mov r1, r3
  mov r12, r2
1:  // four inputs
  PAIR 0, 2, 0
  PAIR 1, 3, 16
  adds r0, #4
  adds r1, #32
  cmp r0, r12
  bne 1b
  ldr r0, [sp, #16]
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  stm r0!, {r4-r7}
  pop {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  pop {r0, r4-r7, pc}
  .size cmsis_nn_delegate_add_row, .-cmsis_nn_delegate_add_row

#endif
