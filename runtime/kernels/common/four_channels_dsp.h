// What inner loops in assembly for DSP share that multiply pairs of inputs of two windows with the weights of four channels.
#pragma once

#include "runtime/kernels/common/joint_sums_dsp.h"
#include "runtime/kernels/common/pair_products_members.h"

#ifdef __ASSEMBLER__
// clang-format off

// r0 inputs, r1 table, r4-r7 sums of the first window, r8-r11 of the second, r2 r3 inputs, r12 lr weights.
// Multiplies two inputs of both windows with the weights of four channels: 15 instructions for 16 products.
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

// The same with 256 times the weights of a channel and those of the channel before in 16 bits: 12 instructions. The lower bytes
// are those of the channel before; SEPARATE_EIGHT leaves the sums of every second channel alone.
.macro PRODUCTS_JOINT
  ldm r0!, {r2, r3}
  ldm r1!, {r12, lr}
  smlad r5, r2, r12, r5
  smlad r9, r3, r12, r9
  sxtb16 r12, r12
  smlad r7, r2, lr, r7
  smlad r11, r3, lr, r11
  sxtb16 lr, lr
  smlad r4, r2, r12, r4
  smlad r8, r3, r12, r8
  smlad r6, r2, lr, r6
  smlad r10, r3, lr, r10
.endm

// Saves registers and copies the PairProducts at r0 to the stack, at its own offsets. Leaves the table in r1. `more` is the
// space behind it, 4 and a multiple of 8.
.macro BEGIN_PAIR_PRODUCTS more=4
  push {r4-r11, lr}
  NEIGHBOURS PAIR_PRODUCTS_INPUTS, PAIR_PRODUCTS_INPUTS_END, PAIR_PRODUCTS_TABLE, PAIR_PRODUCTS_OUTPUT0, \
             PAIR_PRODUCTS_OUTPUT1, PAIR_PRODUCTS_CHANNELS, PAIR_PRODUCTS_LEAST, PAIR_PRODUCTS_MOST, \
             PAIR_PRODUCTS_BYTES
  ldm r0, {r1-r8}
  sub sp, #PAIR_PRODUCTS_BYTES + \more
  stm sp, {r1-r8}
  mov r1, r3
.endm

.macro END_PAIR_PRODUCTS more=4
  add sp, #PAIR_PRODUCTS_BYTES + \more
  pop {r4-r11, pc}
.endm

// The sums of both windows for the next four channels of the table, in r4-r11; changes r0, r2, r3, r12 and lr. `products`
// multiplies two inputs of both windows, as PRODUCTS does. Both windows start with the sums in the table, less a number
// for each that lies at `less` on the stack, if there is one; or with the eight sums at `starts` on the stack, and the
// table has none.
.macro FOUR_CHANNELS products=PRODUCTS, less, starts
  ldr r0, [sp, #PAIR_PRODUCTS_INPUTS]
  .ifnb \starts
  add r12, sp, #\starts
  ldm r12, {r4-r11}
  .else
  ldm r1!, {r4-r7}
  .ifnb \less
  ldrd r2, r3, [sp, #\less]
  sub r8, r4, r3
  sub r9, r5, r3
  sub r10, r6, r3
  sub r11, r7, r3
  sub r4, r4, r2
  sub r5, r5, r2
  sub r6, r6, r2
  sub r7, r7, r2
  .else
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  .endif
  .endif
.Leight_inputs\@:
  \products
  \products
  \products
  \products
  ldr lr, [sp, #PAIR_PRODUCTS_INPUTS_END]
  cmp r0, lr
  bne .Leight_inputs\@
.endm

// clang-format on
#endif
