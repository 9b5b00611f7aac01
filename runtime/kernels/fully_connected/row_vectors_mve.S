// The inner loops of runtime/kernels/fully_connected/row_vectors.h for MVE.
//
// A vector of inputs is loaded once for eight channels, whose sums are the eight even registers that VMLADAVA adds to.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/nibble_products_mve.h"
#include "runtime/kernels/fully_connected/row_vectors_members.h"

  .syntax unified
  .thumb

// Offsets in what the function keeps on the stack.
#define INPUT 0
#define VECTORS 4
#define FIRST 8
#define OFFSET 12
#define LOCALS 16

// The products of the inputs in q2 with weights of 8 channels: 16 instructions, all of them vector instructions, 64 beats,
// for 128 products of int8, 64 of int16. `load` takes `bytes` of weights, which VLDRB.S16 widens.
.macro PRODUCTS load, bytes, op
  \load q0, [r7], #\bytes
  \load q1, [r7], #\bytes
  \op r0, q0, q2
  \load q0, [r7], #\bytes
  \op r2, q1, q2
  \load q1, [r7], #\bytes
  \op r4, q0, q2
  \load q0, [r7], #\bytes
  \op r6, q1, q2
  \load q1, [r7], #\bytes
  \op r8, q0, q2
  \load q0, [r7], #\bytes
  \op r10, q1, q2
  \load q1, [r7], #\bytes
  \op r12, q0, q2
  \op lr, q1, q2
.endm

// Requantizes the sums in q0 and q1 with words of multipliers and shifts to the right.
.macro SCALE
  vldrw.32 q2, [r7], #16
  vldrw.32 q3, [r7], #16
  vqrdmulh.s32 q0, q0, q2
  vqrdmulh.s32 q1, q1, q3
  vldrw.32 q4, [r7], #16
  vldrw.32 q5, [r7], #16
  vshr.s32 q2, q0, #31
  vshr.s32 q3, q1, #31
  vadd.i32 q0, q0, q2
  vadd.i32 q1, q1, q3
  vrshl.s32 q0, q0, q4
  vrshl.s32 q1, q1, q5
.endm

// The same of the sums that NIBBLE_PRODUCTS leaves, with bytes of shifts to the right and to the left. Halves below 0 go
// away from 0 only where something is shifted out, which is where the shift to the right is below 0 too. In steps of
// outputs that are finer than those of sums, which weights of 4 bits often have, nothing is.
.macro SCALE_NIBBLES
  vshl.i32 q2, q1, #4  // 16 b, and then 8 times the sum of the inputs
  vsub.i32 q0, q0, q2
  vsub.i32 q0, q0, r9
  vldrb.s32 q4, [r7, #40]
  vldrb.s32 q5, [r7, #44]
  vshl.s32 q0, q0, q4
  vshl.s32 q1, q1, q5
  vldrw.32 q2, [r7], #16
  vldrw.32 q3, [r7], #16
  vqrdmulh.s32 q0, q0, q2
  vqrdmulh.s32 q1, q1, q3
  vldrb.s32 q4, [r7]
  vldrb.s32 q5, [r7, #4]
  vand q2, q0, q4
  vand q3, q1, q5
  vshr.s32 q2, q2, #31
  vshr.s32 q3, q3, #31
  vadd.i32 q0, q0, q2
  vadd.i32 q1, q1, q3
  vrshl.s32 q0, q0, q4
  vrshl.s32 q1, q1, q5
  add r7, r7, #16
.endm

// void cmsis_nn_delegate_row_vectors(const RowVectors<int8_t>* row)         r0
// void cmsis_nn_delegate_row_vectors_int16(const RowVectors<int16_t>* row)  r0
// void cmsis_nn_delegate_nibble_row_vectors(       the same with weights of 4 bits
// void cmsis_nn_delegate_nibble_row_vectors_int16(
//
// Register usage
//   Inputs    r1, r3 vectors left
//   r9        the zero point of the output; with weights of 4 bits, 8 times the sum of the inputs
//   Table     r7
//   Outputs   r5, r11 left
//   Sums      r0 r2 r4 r6 r8 r10 r12 lr, channel by channel
//   q0 q1 q3 weights, q2 inputs, q6 q7 limits
//
// Cost, for 8 channels and V vectors of inputs: 19 V + 32 instructions, one more of int8. With weights of 4 bits
// 19 V + 42, three more of int8, and 3 V + 5 for a row.
//
// Results without the zero point are at most 2^30 where all shifts go to the right, so that adding it after they are
// narrowed to 16 bits saturates where the limits hold anyway. Weights of 4 bits have shifts to the left, too: there it is
// added to 32 bits, which wrap as in the reference.
//
// Bounds: only the inputs of the row are read, and only `channels` outputs are written: VCTP leaves out the others of the
// first vector and of the last block. The table has weights and scales for these too: init() compares block_words and
// blocks, so ReadsPast is 0.
.macro ROW_VECTORS name, log2_bytes, predicate, first, vector, weights, bytes, bits, store, nibbles
  FUNCTION \name
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  NEIGHBOURS ROW_VECTORS_INPUT, ROW_VECTORS_TABLE, ROW_VECTORS_OUTPUT, ROW_VECTORS_CHANNELS
  ldrd r1, r7, [r0, #ROW_VECTORS_INPUT]
  ldrd r5, r11, [r0, #ROW_VECTORS_OUTPUT]
  NEIGHBOURS ROW_VECTORS_VECTORS, ROW_VECTORS_FIRST, ROW_VECTORS_LEAST, ROW_VECTORS_MOST
  ldrd r3, r4, [r0, #ROW_VECTORS_VECTORS]
  ldrd r6, r8, [r0, #ROW_VECTORS_LEAST]
  str r1, [sp, #INPUT]
  strd r3, r4, [sp, #VECTORS]
  vdup.16 q6, r6
  vdup.16 q7, r8
  .ifeq \log2_bytes
  ldr r9, [r0, #ROW_VECTORS_OFFSET]
  .if \nibbles
  str r9, [sp, #OFFSET]
  .endif
  .endif
  .if \nibbles
  sub r2, r3, #1
  add r2, r4, r2, lsl #4 - \log2_bytes
  mov r0, #0
  dlstp.\bits lr, r2
3:
  \vector q0, [r1], #16
  vaddva.s\bits r0, q0
  letp lr, 3b
  lsl r9, r0, #3
  .endif

.L\name\()_block:  // eight channels
  ldr r1, [sp, #INPUT]
  ldrd r3, r4, [sp, #VECTORS]
  \predicate r4
  vpst
  \first q2, [r1]
  add r1, r1, r4, lsl #\log2_bytes
  ldm r7!, {r0, r2, r4, r6, r8, r10, r12, lr}
  b 2f
1:
  \vector q2, [r1], #16
2:
  .if \nibbles
  NIBBLE_PRODUCTS \weights, \bytes, vmladava.s\bits, s\bits
  .else
  PRODUCTS \weights, \bytes, vmladava.s\bits
  .endif
  subs r3, r3, #1
  bne 1b
  // Even channels go to q0, odd ones to q1.
  vmov q0[2], q0[0], r0, r8
  vmov q0[3], q0[1], r4, r12
  vmov q1[2], q1[0], r2, r10
  vmov q1[3], q1[1], r6, lr
  .if \nibbles
  SCALE_NIBBLES
  .else
  SCALE
  .endif
  .if \nibbles && \log2_bytes == 0
  ldr r0, [sp, #OFFSET]
  vadd.i32 q0, q0, r0
  vadd.i32 q1, q1, r0
  .endif
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  .if !\nibbles && \log2_bytes == 0
  vqadd.s16 q0, q0, r9
  .endif
  vmax.s16 q0, q0, q6
  vmin.s16 q0, q0, q7
  vctp.16 r11
  vpst
  \store q0, [r5], #8 << \log2_bytes
  subs r11, r11, #8
  bgt .L\name\()_block
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}
  .size \name, .-\name
.endm

  ROW_VECTORS cmsis_nn_delegate_row_vectors, 0, vctp.8, vldrbt.8, vldrb.8, vldrb.8, 16, 8, vstrbt.16, 0
  ROW_VECTORS cmsis_nn_delegate_row_vectors_int16, 1, vctp.16, vldrht.16, vldrh.16, vldrb.s16, 8, 16, vstrht.16, 0
  ROW_VECTORS cmsis_nn_delegate_nibble_row_vectors, 0, vctp.8, vldrbt.8, vldrb.8, vldrb.8, 16, 8, vstrbt.16, 1
  ROW_VECTORS cmsis_nn_delegate_nibble_row_vectors_int16, 1, vctp.16, vldrht.16, vldrh.16, vldrb.s16, 8, 16, vstrht.16, 1

#endif
