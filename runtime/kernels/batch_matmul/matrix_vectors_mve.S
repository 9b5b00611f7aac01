// The inner loops of runtime/kernels/batch_matmul/matrix_vectors.h for MVE.
//
// Two vectors of the first input and four of the second one are loaded for eight VMLADAVA, whose sums are the eight
// even registers. Offsets are no part of the products: with a row of each input, a and b, the sum of (a + o) * (b + p)
// is that of a * b, and o times the sum of b, p times the sum of a, and o * p for each element.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/batch_matmul/matrix_vectors_members.h"

  .syntax unified
  .thumb

// Offsets in what multiply_matrix_vectors keeps on the stack.
#define ROW0 0         // the rows, behind their first vectors
#define ROW1 4
#define VECTORS 8
#define OUTPUT_STEP 12
#define START0 16      // what the rows add to their sums
#define START1 20
#define MULTIPLIER 24
#define SHIFT 28
#define ZERO_POINT 32
#define LOCALS 36      // with the saved registers, a multiple of 8

// Products of a vector of both rows, a and b, with those of four columns: 12 instructions, all of them vector
// instructions, 48 beats, for 128 products. `op` is VMLADAV where sums begin.
.macro PRODUCTS op, a, b
  vldrb.8 q0, [r9], #16
  vldrb.8 q1, [r9], #16
  \op r0, q0, \a
  \op r8, q0, \b
  vldrb.8 q0, [r9], #16
  \op r2, q1, \a
  \op r10, q1, \b
  vldrb.8 q1, [r9], #16
  \op r4, q0, \a
  \op r12, q0, \b
  \op r6, q1, \a
  \op lr, q1, \b
.endm

// void cmsis_nn_delegate_multiply_matrix_vectors(
//     const MatrixVectors* vectors)   r0
//
// Register usage
//   Rows      r1 r3, r5 vectors left
//   Table     r9
//   Outputs   r7, a low register for VSTRB.32; r11 left
//   Sums      r0 r2 r4 r6 of the first row, column by column, r8 r10 r12 lr of the second
//   q0 q1 columns, q2 q3 rows, q4 q5 the first vectors of both rows, q6 q7 limits
//
// Cost, for four columns of both rows: 16 V + 49 instructions, with V vectors of a row behind the first one; 5 V + 32
// for a call.
//
// Bounds: only the elements of the rows are read: VCTP leaves out those that the first vector lacks, and the others are
// whole. Only `columns` results of a row are written, with VCTP for the last four. Of the table, 64 V + 80 bytes are
// read for each four columns, rounded up: compute_batch_matmul_vectors() has room for these. What lies there for
// columns that do not exist is not stored.
  FUNCTION cmsis_nn_delegate_multiply_matrix_vectors
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  NEIGHBOURS MATRIX_VECTORS_ROWS, MATRIX_VECTORS_STEP, MATRIX_VECTORS_FIRST, MATRIX_VECTORS_VECTORS, \
             MATRIX_VECTORS_TABLE, MATRIX_VECTORS_OUTPUT, MATRIX_VECTORS_COLUMNS, MATRIX_VECTORS_OUTPUT_STEP
  ldrd r1, r3, [r0, #MATRIX_VECTORS_ROWS]
  ldrd r4, r5, [r0, #MATRIX_VECTORS_FIRST]
  ldrd r9, r7, [r0, #MATRIX_VECTORS_TABLE]
  ldrd r11, r12, [r0, #MATRIX_VECTORS_COLUMNS]
  add r3, r3, r1
  vctp.8 r4
  vpstt
  vldrbt.8 q4, [r1]
  vldrbt.8 q5, [r3]
  add r1, r1, r4
  add r3, r3, r4
  NEIGHBOURS ROW0, ROW1, VECTORS, OUTPUT_STEP
  strd r1, r3, [sp, #ROW0]
  strd r5, r12, [sp, #VECTORS]
  vaddv.s8 r6, q4
  vaddv.s8 r8, q5
  wls lr, r5, 2f
1:
  vldrb.8 q0, [r1], #16
  vldrb.8 q1, [r3], #16
  vaddva.s8 r6, q0
  vaddva.s8 r8, q1
  le lr, 1b
2:
  NEIGHBOURS MATRIX_VECTORS_OFFSET, MATRIX_VECTORS_MULTIPLIER, MATRIX_VECTORS_SHIFT, MATRIX_VECTORS_ZERO_POINT, \
             MATRIX_VECTORS_LEAST, MATRIX_VECTORS_MOST
  ldrd r2, r1, [r0, #MATRIX_VECTORS_OFFSET]
  ldrd r3, r4, [r0, #MATRIX_VECTORS_SHIFT]
  mul r6, r6, r2
  mul r8, r8, r2
  NEIGHBOURS START0, START1, MULTIPLIER, SHIFT, ZERO_POINT
  strd r6, r8, [sp, #START0]
  strd r1, r3, [sp, #MULTIPLIER]
  str r4, [sp, #ZERO_POINT]
  ldrd r1, r3, [r0, #MATRIX_VECTORS_LEAST]
  vdup.16 q6, r1
  vdup.16 q7, r3

.Lfour_columns:
  PRODUCTS vmladav.s8, q4, q5
  ldr r5, [sp, #VECTORS]
  cbz r5, 4f
  ldrd r1, r3, [sp, #ROW0]
3:
  vldrb.8 q2, [r1], #16
  vldrb.8 q3, [r3], #16
  PRODUCTS vmladava.s8, q2, q3
  subs r5, r5, #1
  bne 3b
4:
  vmov q0[2], q0[0], r0, r4
  vmov q0[3], q0[1], r2, r6
  vmov q1[2], q1[0], r8, r12
  vmov q1[3], q1[1], r10, lr
  vldrw.32 q2, [r9], #16
  ldrd r0, r2, [sp, #START0]
  vadd.i32 q0, q0, q2
  vadd.i32 q1, q1, q2
  ldrd r4, r6, [sp, #MULTIPLIER]
  vadd.i32 q0, q0, r0
  vadd.i32 q1, q1, r2
  vqrdmulh.s32 q0, q0, r4
  vqrdmulh.s32 q1, q1, r4
  // Halves below 0 go away from 0.
  vshr.s32 q2, q0, #31
  vshr.s32 q3, q1, #31
  vadd.i32 q0, q0, q2
  vadd.i32 q1, q1, q3
  vrshl.s32 q0, r6
  vrshl.s32 q1, r6
  // Results of the first row in the lower halves of words, those of the second one in the upper ones. What 16 bits do
  // not hold lies beyond the limits of int8, also with the zero point.
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  ldr r0, [sp, #ZERO_POINT]
  ldr r5, [sp, #OUTPUT_STEP]
  vqadd.s16 q0, q0, r0
  vmax.s16 q0, q0, q6
  vmin.s16 q0, q0, q7
  add r5, r5, r7
  vshr.u32 q1, q0, #16
  vctp.32 r11
  vpstt
  vstrbt.32 q0, [r7], #4
  vstrbt.32 q1, [r5]
  subs r11, r11, #4
  bgt .Lfour_columns
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_multiply_matrix_vectors, .-cmsis_nn_delegate_multiply_matrix_vectors

// void cmsis_nn_delegate_pack_matrix_columns(
//     const MatrixColumns* columns)   r0
//
// Register usage
//   Rows     r1, r4 elements of the first vector, r5 vectors behind it, r3 rows left
//   Table    r2 vectors of a row, r6 where its start goes; r7 r8 the same of the first row of four
//   Starts   r9 the offset, r10 what all have, r12 the sum of a row
//   r11 bytes of four rows in the table, q0 a vector
//
// Cost: 4 V + 15 instructions for a row with V vectors behind the first one; 6 for four rows.
//
// Bounds: only the elements of rows are read: VCTP leaves out those that the first vector lacks, for which zeros are
// written. 16 bytes are written for each vector of a row and 4 for its start, in the place for it.
  FUNCTION cmsis_nn_delegate_pack_matrix_columns
  push {r4-r11, lr}
  NEIGHBOURS MATRIX_COLUMNS_ROWS, MATRIX_COLUMNS_TABLE, MATRIX_COLUMNS_COLUMNS, MATRIX_COLUMNS_FIRST, \
             MATRIX_COLUMNS_VECTORS, MATRIX_COLUMNS_OFFSET, MATRIX_COLUMNS_START, MATRIX_COLUMNS_ROW_BYTES
  ldrd r1, r7, [r0, #MATRIX_COLUMNS_ROWS]
  ldrd r3, r4, [r0, #MATRIX_COLUMNS_COLUMNS]
  ldrd r5, r9, [r0, #MATRIX_COLUMNS_VECTORS]
  ldrd r10, r11, [r0, #MATRIX_COLUMNS_START]
  lsl r11, r11, #2
1:  // four rows
  sub r8, r11, #16
  add r8, r8, r7
  movs r0, #4
  mov r6, r7
2:  // a row
  vctp.8 r4
  vpst
  vldrbt.8 q0, [r1]
  add r1, r1, r4
  mov r2, r6
  vaddv.s8 r12, q0
  vstrb.8 q0, [r2], #64
  wls lr, r5, 4f
3:
  vldrb.8 q0, [r1], #16
  vaddva.s8 r12, q0
  vstrb.8 q0, [r2], #64
  le lr, 3b
4:
  mla r12, r12, r9, r10
  add r6, r6, #16
  str r12, [r8], #4
  subs r3, r3, #1
  beq 5f
  subs r0, r0, #1
  bne 2b
  add r7, r7, r11
  b 1b
5:
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_pack_matrix_columns, .-cmsis_nn_delegate_pack_matrix_columns

#endif
