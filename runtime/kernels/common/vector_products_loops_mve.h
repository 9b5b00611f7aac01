// The loops of vector_products_mve.S and vector_products_int16_mve.S.
#pragma once

#include "runtime/kernels/common/vector_products_members.h"

#ifdef __ASSEMBLER__
// clang-format off

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

// Bytes from a place where a jump lands to the next one, MULTIPLY_VECTOR.
#define VECTOR_CODE (56 + LANDING_PAD_BYTES)         // with weights of 8 bits
#define NIBBLES_CODE (60 + LANDING_PAD_BYTES)        // with weights of 4 bits
#define NIBBLES_CODE_INT16 (64 + LANDING_PAD_BYTES)  // with weights of 4 bits and inputs of int16
#define MOST_WITHOUT_LOOP 7           // vectors after the first

// One vector of each window with one of each channel: 14 instructions, of which all are vector instructions, 56 beats,
// for 128 products of int8, 64 of int16. r1 r3 r5 r9 windows, r7 weights, which only r0 to r7 widen; sums of the first
// channel r4 r6 r8 r10, of the second r0 r2 r12 lr. With weights of 4 bits there is one instruction more: a byte has one
// of the first channel in its lower half, which is multiplied where a shift brings it, as 16 times the weight, and one of
// the second in its upper half. Sums of int16 have no room for that: there two more shifts bring it back before.
//
// Loads stand between products wherever they can: a core like M55 loads a vector while it multiplies another one, and
// waits where two loads or two products follow each other.
.macro MULTIPLY_VECTOR weights, bytes, nibbles, inputs, op, suffix:vararg
  .if \nibbles
  \weights q1, [r7], #\bytes
  \inputs q2, [r1\suffix
  .if \bytes == 16
  vshl.i8 q0, q1, #4
  vshr.s8 q1, q1, #4
  .else
  vshl.i16 q0, q1, #12
  vshr.s16 q1, q1, #4
  vshr.s16 q0, q0, #12
  .endif
  .else
  \weights q0, [r7], #\bytes
  \inputs q2, [r1\suffix
  .endif
  \op r4, q0, q2
  .ifeq \nibbles
  \weights q1, [r7], #\bytes
  .endif
  \op r0, q1, q2
  \inputs q3, [r3\suffix
  \op r6, q0, q3
  \inputs q2, [r5\suffix
  \op r2, q1, q3
  \inputs q3, [r9\suffix
  \op r8, q0, q2
  \op r12, q1, q2
  \op r10, q0, q3
  \op lr, q1, q3
.endm

// Stores the results at r11, and goes back for the next two channels of the group while there are any.
.macro STORE name, store, element_bytes
  \store q0, [r11, q4]
  ldr r0, [sp, #LAST]
  add r11, r11, #2 * \element_bytes
  cmp r11, r0
  bls .L\name\()_multiply
.endm

// `weights` and `inputs` load a vector of them, weights of `weight_bytes` bytes, with two in each if `nibbles` is 1; `code`
// is the size of MULTIPLY_VECTOR for them; `type` is that of products; `shift` is 1 for int16, where places are twice as
// far apart. `shift_down` makes 16 bits of the sums in q0 and q1, and `narrow` results of form LEAST; `store` stores them.
.macro MULTIPLY_VECTORS name, weights, weight_bytes, nibbles, code, inputs, type, shift, shift_down, narrow, store
  FUNCTION \name
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
  ldrd r7, r11, [r0, #VECTOR_PRODUCTS_TABLE]
  ldr r2, [r0, #VECTOR_PRODUCTS_FORM]
  adr.w r4, .L\name\()_any
  cbz r2, 1f
  adr.w r4, .L\name\()_least
1:
  orr r4, r4, #1
  str r4, [sp, #REQUANTIZE]
  ldrd r2, r4, [r0, #VECTOR_PRODUCTS_CHANNELS]
  add r2, r11, r2, lsl #\shift
  subs r2, r2, #2 << \shift
  str r2, [sp, #LAST]
  ldrd r5, r9, [r0, #VECTOR_PRODUCTS_WINDOWS + 8]
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
  MULTIPLY_VECTOR \weights, \weight_bytes, \nibbles, \inputs, vmladav.\type, ]
  ldr pc, [sp, #ENTRY]

// Windows of at most eight vectors: a jump into a row of code for each. The amounts are those of VECTOR_PRODUCTS_VECTOR.
.L\name\()_row:
  .irp place, 112, 96, 80, 64, 48, 32, 16
  LANDING_PAD
  MULTIPLY_VECTOR \weights, \weight_bytes, \nibbles, \inputs, vmladava.\type, , #\place]
  .endr

  CODE_BYTES .L\name\()_row, MOST_WITHOUT_LOOP * \code
// The eight sums go into the lanes of q0 and q1, window by window.
.L\name\()_sums:
  LANDING_PAD
  vmov q0[2], q0[0], r4, r8
  vmov q0[3], q0[1], r6, r10
  vmov q1[2], q1[0], r0, r12
  vmov q1[3], q1[1], r2, lr
  .if \nibbles
  .ifeq \shift
  vshr.s32 q0, q0, #4
  .endif
  ldm r7!, {r0, r2, r4, r6}
  sbfx r8, r0, #0, #6
  sbfx r10, r2, #0, #6
  asr r0, r0, #6
  asr r2, r2, #6
  .else
  ldm r7!, {r0, r2, r4, r6, r8, r10}
  .endif
  vadd.i32 q0, q0, r0
  vadd.i32 q1, q1, r2
  .if \nibbles && \shift
  // Steps of outputs that are finer than those of sums: to the left before, and not to the right then.
  bic r12, r8, r8, asr #31
  bic lr, r10, r10, asr #31
  vshl.s32 q0, r12
  vshl.s32 q1, lr
  and r8, r8, r8, asr #31
  and r10, r10, r10, asr #31
  .endif
  vqrdmulh.s32 q0, q0, r4
  vqrdmulh.s32 q1, q1, r6
  ldr pc, [sp, #REQUANTIZE]

.L\name\()_least:
  LANDING_PAD
  \narrow
  STORE \name, \store, 1 << \shift
  b .L\name\()_group

.L\name\()_any:
  LANDING_PAD
  .if \nibbles && \shift
  vdup.32 q2, r8  // halves below 0 go away from 0 where something is shifted out
  vdup.32 q3, r10
  vand q2, q2, q0
  vand q3, q3, q1
  vshr.s32 q2, q2, #31
  vshr.s32 q3, q3, #31
  .else
  vshr.s32 q2, q0, #31
  vshr.s32 q3, q1, #31
  .endif
  vadd.i32 q0, q0, q2
  vadd.i32 q1, q1, q3
  \shift_down
  vmax.s16 q0, q0, q6
  vmin.s16 q0, q0, q7
  STORE \name, \store, 1 << \shift

// r11 is where the results of further channels of the group would go, r0 where those of the last two may.
.L\name\()_group:
  sub r0, r11, r0
  cmp r0, #1 << \shift
  bne 4f
  sub r11, r11, #1 << \shift  // a single channel is left, and comes with the one before
  b .L\name\()_multiply
4:
  ldr r0, [sp, #GROUPS_LEFT]
  subs r0, r0, #1
  beq 5f
  str r0, [sp, #GROUPS_LEFT]
  ldr r0, [sp, #PRODUCTS]
  ldr r7, [r0, #VECTOR_PRODUCTS_TABLE]
  ldr r2, [r0, #VECTOR_PRODUCTS_WINDOWS_STEP]
  add r1, r1, r2
  add r3, r3, r2
  add r5, r5, r2
  add r9, r9, r2
  ldr r2, [r0, #VECTOR_PRODUCTS_CHANNELS]
  ldr r4, [sp, #LAST]
  add r4, r4, r2, lsl #2 + \shift
  str r4, [sp, #LAST]
  add r2, r2, r2, lsl #1
  add r11, r11, r2, lsl #\shift
  b .L\name\()_multiply
5:
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}

// Windows of more vectors: a loop from the last to the second, entered where so many turns of four end with the second.
// A turn is 58 instructions, of which 56 are vector instructions, 224 beats. Each vector goes 16 bytes back, so that the
// windows' registers are at the first vector again when the loop ends, and nothing before it is read.
.L\name\()_many:
  LANDING_PAD
  str r11, [sp, #OUTPUT]
  ldr r11, [sp, #BACK]
  add r1, r1, r11
  add r3, r3, r11
  add r5, r5, r11
  add r9, r9, r11
  ldr r11, [sp, #TURNS]
  ldr pc, [sp, #LOOP_ENTRY]
.L\name\()_loop:
  .rept 4
  LANDING_PAD
  MULTIPLY_VECTOR \weights, \weight_bytes, \nibbles, \inputs, vmladava.\type, ], #-16
  .endr
  CODE_BYTES .L\name\()_loop, 4 * \code
  subs r11, r11, #1
  bne .L\name\()_loop
  ldr r11, [sp, #OUTPUT]
  b .L\name\()_sums
  .size \name, .-\name
.endm

// clang-format on
#endif
