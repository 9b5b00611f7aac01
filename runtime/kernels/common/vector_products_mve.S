// The inner loops of runtime/kernels/common/vector_products.h for MVE.
//
// VMLADAVA adds 16 products to a register with an even number, of which there are eight: the sums of 4 windows by 2
// channels. The odd ones hold the addresses of windows, weights and results.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/vector_products_members.h"

  .syntax unified
  .thumb

// Offsets in what the function keeps on the stack.
#define PRODUCTS 0     // the VectorProducts
#define GROUPS_LEFT 4
#define LAST 8         // where the last two channels of the group's first window go
#define ENTRY 12       // into the code for the vectors after the first
#define REQUANTIZE 16  // the code for the form
#define BACK 20        // many vectors: from the first vector of a window to the last
#define TURNS 24       // many vectors: of the loop
#define LOOP_ENTRY 28  // many vectors: into the loop
#define OUTPUT 32      // many vectors
#define LOCALS 36

#define VECTOR_CODE 56                // bytes of MULTIPLY_VECTOR with weights of 8 bits
#define NIBBLES_CODE 60               // with weights of 4 bits
#define MOST_WITHOUT_LOOP 7           // vectors after the first

// One vector of each window with one of each channel: 14 instructions, of which all are vector instructions, 56 beats,
// for 128 products. r1 r3 r5 r7 windows, r9 weights; sums of the first channel r4 r6 r8 r10, of the second r0 r2 r12 lr.
// With weights of 4 bits there is one instruction more: a byte has one of the first channel in its lower half, which is
// multiplied where a shift brings it, as 16 times the weight, and one of the second in its upper half.
.macro MULTIPLY_VECTOR nibbles, op, suffix:vararg
  .if \nibbles
  vldrb.8 q1, [r9], #16
  vldrb.8 q2, [r1\suffix
  vshl.i8 q0, q1, #4
  vshr.s8 q1, q1, #4
  .else
  vldrb.8 q0, [r9], #16
  vldrb.8 q2, [r1\suffix
  vldrb.8 q1, [r9], #16
  .endif
  \op r4, q0, q2
  vldrb.8 q3, [r3\suffix
  \op r0, q1, q2
  vldrb.8 q2, [r5\suffix
  \op r6, q0, q3
  \op r2, q1, q3
  vldrb.8 q3, [r7\suffix
  \op r8, q0, q2
  \op r12, q1, q2
  \op r10, q0, q3
  \op lr, q1, q3
.endm

// Shifts and narrows the eight sums in q0 and q1, and adds q5, the zero point.
.macro SHIFT_AND_ADD_ZERO_POINT
  vrshl.s32 q0, r8
  vrshl.s32 q1, r10
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  vqadd.s16 q0, q0, q5
.endm

// Stores the results at r11, and goes back for the next two channels of the group while there are any.
.macro STORE name
  vstrb.16 q0, [r11, q4]
  ldr r0, [sp, #LAST]
  add r11, r11, #2
  cmp r11, r0
  bls .L\name\()_multiply
.endm

// void cmsis_nn_delegate_multiply_vectors(
//     const VectorProducts* products)   r0
// void cmsis_nn_delegate_multiply_nibble_vectors(   the same with weights of 4 bits
//
// Register usage
//   Windows   r1  r3  r5  r7
//   Weights   r9                 then starts, multipliers and shifts of the same two channels
//   Sums      r4  r6  r8  r10    first channel, by window
//             r0  r2  r12 lr     second channel
//   Output    r11                where windows have many vectors, turns of the loop while products are added
//   q0-q3     weights and inputs, then sums by window: q0 of both channels in windows 0 and 1, q1 in 2 and 3
//   q4        offsets of results; q5 zero point, q6 least, q7 most: 8 x int16
//   Products, what is left and the computed jumps lie on the stack.
//
// Layout of the table, for each two channels: 32 weights for each vector of a window, 16 of each channel, first those of
// the first vector and then those of the last to the second; 2 starts, 2 multipliers and 2 shifts, int32. With weights of
// 4 bits, 16 bytes for each vector, with those of the first channel in the lower halves.
//
// Cost, for two channels of four windows of V <= 8 vectors: 14 V + 22 instructions with form LEAST, 14 V + 27 with ANY.
// Of more vectors: 14 more each, 2 for each four of them and 10 once. With weights of 4 bits, 15 V and 15, and one more.
//
// Bounds: reads `vectors` * 16 bytes of each window, which its caller has: in scratch memory with 16 bytes more than all
// columns, or in the image, where run_pixels() copies the pixels that have no whole vector before the image's end. Reads
// (channels + 1) / 2 blocks of 32 * vectors + 24 bytes of the table, 16 * vectors + 24 with weights of 4 bits, once for
// each group, which is all of it: init() compares block_words and blocks. Writes 8 results at r11 + offsets while r11 is at most LAST, the place of the last
// two channels; an odd last channel is computed together with the one before, whose results are written again.
// Nothing is read past the end of constants, so ReadsPast is 0.
.macro MULTIPLY_VECTORS name, nibbles, code
  .section .text.\name, "ax", %progbits
  .global \name
  .type \name, %function
  .thumb_func
  .balign 8
\name:
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  str r0, [sp, #PRODUCTS]
  vldrw.32 q4, [r0, #VECTOR_PRODUCTS_OFFSETS]
  NEIGHBOURS VECTOR_PRODUCTS_GROUPS, VECTOR_PRODUCTS_ZERO_POINT, VECTOR_PRODUCTS_LEAST, VECTOR_PRODUCTS_MOST
  ldrd r2, r4, [r0, #VECTOR_PRODUCTS_GROUPS]
  str r2, [sp, #GROUPS_LEFT]
  vdup.16 q5, r4
  ldrd r4, r6, [r0, #VECTOR_PRODUCTS_LEAST]  // and q6 q7 limits
  vdup.16 q6, r4
  vdup.16 q7, r6
  NEIGHBOURS VECTOR_PRODUCTS_TABLE, VECTOR_PRODUCTS_OUTPUT, VECTOR_PRODUCTS_CHANNELS, VECTOR_PRODUCTS_VECTORS
  ldrd r9, r11, [r0, #VECTOR_PRODUCTS_TABLE]
  ldr r2, [r0, #VECTOR_PRODUCTS_FORM]
  adr.w r4, .L\name\()_any
  cbz r2, 1f
  adr.w r4, .L\name\()_least
1:
  orr r4, r4, #1
  str r4, [sp, #REQUANTIZE]
  ldrd r2, r4, [r0, #VECTOR_PRODUCTS_CHANNELS]
  add r2, r2, r11
  subs r2, r2, #2
  str r2, [sp, #LAST]
  ldrd r5, r7, [r0, #VECTOR_PRODUCTS_WINDOWS + 8]
  ldrd r1, r3, [r0, #VECTOR_PRODUCTS_WINDOWS]
  mov r6, #\code
  subs r4, r4, #1  // vectors after the first
  cmp r4, #MOST_WITHOUT_LOOP
  bhi 2f
  adr.w r2, .L\name\()_sums
  mls r2, r4, r6, r2
  b 3f
2:
  lsl r2, r4, #4
  str r2, [sp, #BACK]
  add r2, r4, #3
  lsr r2, r2, #2
  str r2, [sp, #TURNS]
  rsb r4, r4, r2, lsl #2
  adr.w r2, .L\name\()_loop
  mla r2, r4, r6, r2
  orr r2, r2, #1
  str r2, [sp, #LOOP_ENTRY]
  adr.w r2, .L\name\()_many
3:
  orr r2, r2, #1
  str r2, [sp, #ENTRY]

.L\name\()_multiply:
  MULTIPLY_VECTOR \nibbles, vmladav.s8, ]
  ldr pc, [sp, #ENTRY]

// Windows of at most eight vectors: a jump into a row of code for each. The amounts are those of VECTOR_PRODUCTS_VECTOR.
.L\name\()_row:
  MULTIPLY_VECTOR \nibbles, vmladava.s8, , #112]
  MULTIPLY_VECTOR \nibbles, vmladava.s8, , #96]
  MULTIPLY_VECTOR \nibbles, vmladava.s8, , #80]
  MULTIPLY_VECTOR \nibbles, vmladava.s8, , #64]
  MULTIPLY_VECTOR \nibbles, vmladava.s8, , #48]
  MULTIPLY_VECTOR \nibbles, vmladava.s8, , #32]
  MULTIPLY_VECTOR \nibbles, vmladava.s8, , #16]

  CODE_BYTES .L\name\()_row, MOST_WITHOUT_LOOP * \code
// The eight sums go into the lanes of q0 and q1, window by window.
.L\name\()_sums:
  vmov q0[2], q0[0], r4, r8
  vmov q0[3], q0[1], r6, r10
  vmov q1[2], q1[0], r0, r12
  vmov q1[3], q1[1], r2, lr
  .if \nibbles
  vshr.s32 q0, q0, #4
  .endif
  ldm r9!, {r0, r2, r4, r6, r8, r10}
  vadd.i32 q0, q0, r0
  vadd.i32 q1, q1, r2
  vqrdmulh.s32 q0, q0, r4
  vqrdmulh.s32 q1, q1, r6
  ldr pc, [sp, #REQUANTIZE]

.L\name\()_least:
  SHIFT_AND_ADD_ZERO_POINT
  vqmovnb.s16 q0, q0
  STORE \name
  b .L\name\()_group

.L\name\()_any:
  vshr.s32 q2, q0, #31
  vshr.s32 q3, q1, #31
  vadd.i32 q0, q0, q2
  vadd.i32 q1, q1, q3
  SHIFT_AND_ADD_ZERO_POINT
  vmax.s16 q0, q0, q6
  vmin.s16 q0, q0, q7
  STORE \name

// r11 is where the results of further channels of the group would go, r0 where those of the last two may.
.L\name\()_group:
  sub r0, r11, r0
  cmp r0, #1
  bne 4f
  sub r11, r11, #1  // a single channel is left, and comes with the one before
  b .L\name\()_multiply
4:
  ldr r0, [sp, #GROUPS_LEFT]
  subs r0, r0, #1
  beq 5f
  str r0, [sp, #GROUPS_LEFT]
  ldr r0, [sp, #PRODUCTS]
  ldr r9, [r0, #VECTOR_PRODUCTS_TABLE]
  ldr r2, [r0, #VECTOR_PRODUCTS_WINDOWS_STEP]
  add r1, r1, r2
  add r3, r3, r2
  add r5, r5, r2
  add r7, r7, r2
  ldr r2, [r0, #VECTOR_PRODUCTS_CHANNELS]
  ldr r4, [sp, #LAST]
  add r4, r4, r2, lsl #2
  str r4, [sp, #LAST]
  add r2, r2, r2, lsl #1
  add r11, r11, r2
  b .L\name\()_multiply
5:
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}

// Windows of more vectors: a loop from the last to the second, entered where so many turns of four end with the second.
// A turn is 58 instructions, of which 56 are vector instructions, 224 beats. Each vector goes 16 bytes back, so that the
// windows' registers are at the first vector again when the loop ends, and nothing before it is read.
.L\name\()_many:
  str r11, [sp, #OUTPUT]
  ldr r11, [sp, #BACK]
  add r1, r1, r11
  add r3, r3, r11
  add r5, r5, r11
  add r7, r7, r11
  ldr r11, [sp, #TURNS]
  ldr pc, [sp, #LOOP_ENTRY]
.L\name\()_loop:
  MULTIPLY_VECTOR \nibbles, vmladava.s8, ], #-16
  MULTIPLY_VECTOR \nibbles, vmladava.s8, ], #-16
  MULTIPLY_VECTOR \nibbles, vmladava.s8, ], #-16
  MULTIPLY_VECTOR \nibbles, vmladava.s8, ], #-16
  CODE_BYTES .L\name\()_loop, 4 * \code
  subs r11, r11, #1
  bne .L\name\()_loop
  ldr r11, [sp, #OUTPUT]
  b .L\name\()_sums
  .size \name, .-\name
.endm

  MULTIPLY_VECTORS cmsis_nn_delegate_multiply_vectors, 0, VECTOR_CODE
  MULTIPLY_VECTORS cmsis_nn_delegate_multiply_nibble_vectors, 1, NIBBLES_CODE

// void cmsis_nn_delegate_copy_columns(
//     int8_t* to,             r0
//     const int8_t* from,     r1
//     int32_t columns,        r2
//     int32_t bytes,          r3
//     int32_t to_step,        [sp]      (r4 once it is loaded)
//     int32_t from_step)      [sp + 4]  (r5)
//
// Register usage: q0 the bytes; r6 r7 to and from within a column of more than 16 bytes; lr turns of the loop.
//
// Cost: up to 16 bytes, 6 instructions a column, of which 2 are vector instructions, 8 beats; more, 3 for each 16 bytes
// and 7 a column.
//
// Bounds: lanes from `bytes` on are predicated, by VCTP or by the loop itself, so that they are neither read nor written.
// `columns` and `bytes` are at least 1.
  .section .text.cmsis_nn_delegate_copy_columns, "ax", %progbits
  .global cmsis_nn_delegate_copy_columns
  .type cmsis_nn_delegate_copy_columns, %function
  .thumb_func
  .balign 8
cmsis_nn_delegate_copy_columns:
  push {r4-r7, lr}
  ldrd r4, r5, [sp, #20]
  cmp r3, #16
  bhi 2f
  vctp.8 r3
  dls lr, r2
1:
  vpstt
  vldrbt.8 q0, [r1]
  vstrbt.8 q0, [r0]
  add r1, r1, r5
  add r0, r0, r4
  le lr, 1b
  pop {r4-r7, pc}
2:
  mov r6, r0
  mov r7, r1
  dlstp.8 lr, r3
3:
  vldrb.8 q0, [r7], #16
  vstrb.8 q0, [r6], #16
  letp lr, 3b
  add r1, r1, r5
  add r0, r0, r4
  subs r2, r2, #1
  bne 2b
  pop {r4-r7, pc}
  .size cmsis_nn_delegate_copy_columns, .-cmsis_nn_delegate_copy_columns

#endif
