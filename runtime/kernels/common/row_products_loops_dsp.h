// The loops of row_products_dsp.S and row_products_int16_dsp.S.
#pragma once

#include "runtime/kernels/common/eight_channels_dsp.h"
#include "runtime/kernels/common/row_products_members.h"

#ifdef __ASSEMBLER__
// clang-format off

// The frame: the sums of a block, the RowProducts, where the inputs that are being read end, and, for weights of 4 bits, 8
// times the sum of all inputs.
#define ROW 32
#define END 36
#define EIGHT_TIMES 40
#define FRAME 44  // with the saved registers, a multiple of 8

// Puts 8 times the sum of the inputs of the RowProducts at r0 to where the blocks take it from their sums. `add` adds that
// of eight inputs, from r4 on, to r2, with 8 in both halves of r12; r3 and r6 are temporary.
.macro ADD_INPUTS add
  mov r12, #0x00080008
  mov r2, #0
  NEIGHBOURS ROW_PRODUCTS_INPUT, ROW_PRODUCTS_INPUT_END
  ldrd r4, r5, [r0, #ROW_PRODUCTS_INPUT]
7:  // eight inputs
  \add
  cmp r4, r5
  bne 7b
  // The rest, unless this was it.
  NEIGHBOURS ROW_PRODUCTS_REST, ROW_PRODUCTS_REST_END
  ldrd r4, r6, [r0, #ROW_PRODUCTS_REST]
  cmp r5, r6
  mov r5, r6
  bne 7b
  str r2, [sp, #EIGHT_TIMES]
.endm

// A function of a RowProducts in r0. `inputs` multiplies eight inputs, from r0 on, by `products`, which is EIGHT_CHANNELS or
// EIGHT_NIBBLES; for the latter `add` is that of ADD_INPUTS. `results` stores the results of a block, of which the sums lie
// at sp: r12 has the RowProducts, also afterwards, r4 the output and r5 the channels that are left, r11 the scales and lr
// the bytes from those of a channel to the next one's. It leaves r4 and r11 where they end, and in r10 how many channels
// there are after this block. `separate` changes the sums in r4-r11 before that.
.macro MULTIPLY_ROW name, inputs, products, results, add, separate
  FUNCTION \name
  push {r4-r11, lr}
  sub sp, #FRAME
  str r0, [sp, #ROW]
  .ifnb \add
  ADD_INPUTS \add
  .endif
  ldr r1, [r0, #ROW_PRODUCTS_TABLE]
1:  // eight channels
  ldr r12, [sp, #ROW]
  ldm r1!, {r4-r11}
  .ifnb \add
  ldr r2, [sp, #EIGHT_TIMES]
  .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
  sub \sum, \sum, r2
  .endr
  mov lr, #NIBBLES_MASK
  .endif
  NEIGHBOURS ROW_PRODUCTS_INPUT, ROW_PRODUCTS_INPUT_END
  ldrd r0, r2, [r12, #ROW_PRODUCTS_INPUT]
  str r2, [sp, #END]
2:  // eight inputs
  \inputs \products
  ldr r2, [sp, #END]
  cmp r0, r2
  bne 2b
  // The rest, unless this was it.
  ldr r12, [sp, #ROW]
  NEIGHBOURS ROW_PRODUCTS_REST, ROW_PRODUCTS_REST_END
  ldrd r0, r3, [r12, #ROW_PRODUCTS_REST]
  cmp r2, r3
  str r3, [sp, #END]
  bne 2b

  \separate
  stm sp, {r4-r11}
  NEIGHBOURS ROW_PRODUCTS_OUTPUT, ROW_PRODUCTS_CHANNELS
  ldrd r4, r5, [r12, #ROW_PRODUCTS_OUTPUT]
  NEIGHBOURS ROW_PRODUCTS_SCALES, ROW_PRODUCTS_SCALE_BYTES
  ldrd r11, lr, [r12, #ROW_PRODUCTS_SCALES]
  \results
  strd r4, r10, [r12, #ROW_PRODUCTS_OUTPUT]
  str r11, [r12, #ROW_PRODUCTS_SCALES]
  cmp r10, #0
  bgt 1b
  add sp, #FRAME
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

// clang-format on
#endif
