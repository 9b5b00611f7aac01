// The inner loop of runtime/kernels/batch_matmul/matrix_vectors_int16.h for MVE.
//
// VMLALDAVA adds up products in 64 bits, in two registers, so that four sums are kept: those of two rows with two columns. The
// loop's predicate leaves out what lies behind a row. Nothing is packed: both inputs lie in memory row by row.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/batch_matmul/matrix_vectors_int16_members.h"

  .syntax unified
  .thumb

// Offsets in what the function keeps on the stack.
#define ROW0 0           // the rows
#define ROW1 4
#define SECOND_STEP 8    // between two columns
#define ROW_SIZE 12
#define MULTIPLIER 16
#define SHIFT 20
#define HALF 24          // two words
#define COLUMNS_STEP 32  // from two columns to the next ones
#define ZEROS 36         // what sums begin with: eight words
#define LOCALS 68        // with the saved registers, a multiple of 8

// Makes the result of the sum in `low` and `high` in `low`; r0 r1 half a step, r2 multiplier, r3 shift.
.macro RESULT low, high
  umull \low, lr, \low, r2
  mla \high, \high, r2, lr
  adds \low, \low, r0
  adc \high, \high, r1
  asrl \low, \high, r3
.endm

// void cmsis_nn_delegate_multiply_matrix_vectors_int16(
//     const MatrixVectorsInt16* vectors)   r0
//
// Register usage
//   Rows      r0 r1 of the first input, r2 r3 of the second one, r12 its first one of two
//   Sums      r4-r7 of the first row, r8-r11 of the second one
//   q0 q1 rows, q2 q3 columns; q4 q5 limits, q6 where the four results go, q7 is free
//   s28 s29   columns left, output: in the place of q7
//
// Cost, for two columns of both rows: 9 V + 47 instructions, with V vectors of 8 elements of a row, rounded up; 45 for a call.
//
// Bounds: only the elements of the rows are read, as the loop's predicate leaves out others. Of an odd number of columns the last
// is computed with the one before, whose results are written again; a single one comes twice. Sums of at most
// kMaxProducts products have 46 bits, the multiplier has 15.
  FUNCTION cmsis_nn_delegate_multiply_matrix_vectors_int16
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  NEIGHBOURS MATRIX_INT16_ROW, MATRIX_INT16_ROW_STEP, MATRIX_INT16_COLUMN, MATRIX_INT16_COLUMN_STEP, \
             MATRIX_INT16_SECOND_STEP, MATRIX_INT16_COLUMNS, MATRIX_INT16_ROW_SIZE, MATRIX_INT16_OUTPUT, \
             MATRIX_INT16_OUTPUT_STEP
  NEIGHBOURS MATRIX_INT16_MULTIPLIER, MATRIX_INT16_SHIFT, MATRIX_INT16_HALF
  NEIGHBOURS ROW0, ROW1, SECOND_STEP, ROW_SIZE, MULTIPLIER, SHIFT, HALF
  ldrd r1, r2, [r0, #MATRIX_INT16_ROW]
  ldrd r12, r3, [r0, #MATRIX_INT16_COLUMN]
  ldrd r4, r5, [r0, #MATRIX_INT16_SECOND_STEP]
  ldrd r6, r7, [r0, #MATRIX_INT16_ROW_SIZE]
  add r2, r2, r1
  strd r1, r2, [sp, #ROW0]
  strd r4, r6, [sp, #SECOND_STEP]
  lsl r3, r3, #1
  str r3, [sp, #COLUMNS_STEP]
  vmov s28, r5
  vmov s29, r7
  // The results of a single column lie on each other.
  cmp r4, #0
  ite eq
  moveq r6, #0
  movne r6, #2
  ldr r2, [r0, #MATRIX_INT16_OUTPUT_STEP]
  movs r1, #0
  add r3, r2, r6
  vmov q6[2], q6[0], r1, r2
  vmov q6[3], q6[1], r6, r3
  ldrd r1, r2, [r0, #MATRIX_INT16_MULTIPLIER]
  ldrd r3, r4, [r0, #MATRIX_INT16_HALF]
  strd r1, r2, [sp, #MULTIPLIER]
  strd r3, r4, [sp, #HALF]
  NEIGHBOURS MATRIX_INT16_LEAST, MATRIX_INT16_MOST
  ldrd r1, r2, [r0, #MATRIX_INT16_LEAST]
  vdup.32 q4, r1
  vdup.32 q5, r2
  vmov.i32 q0, #0
  add r0, sp, #ZEROS
  vstrw.32 q0, [r0]
  vstrw.32 q0, [r0, #16]

1:
  add r0, sp, #ZEROS
  ldm r0, {r4-r11}
  ldrd r0, r1, [sp, #ROW0]
  ldrd r3, lr, [sp, #SECOND_STEP]
  mov r2, r12
  add r3, r3, r12
  dlstp.16 lr, lr
2:
  vldrh.16 q0, [r0], #16
  vldrh.16 q2, [r2], #16
  vmlaldava.s16 r4, r5, q0, q2
  vldrh.16 q3, [r3], #16
  vmlaldava.s16 r6, r7, q0, q3
  vldrh.16 q1, [r1], #16
  vmlaldava.s16 r8, r9, q1, q2
  vmlaldava.s16 r10, r11, q1, q3
  letp lr, 2b
  ldrd r0, r1, [sp, #HALF]
  ldrd r2, r3, [sp, #MULTIPLIER]
  RESULT r4, r5
  RESULT r6, r7
  RESULT r8, r9
  RESULT r10, r11
  vmov q0[2], q0[0], r4, r8
  vmov q0[3], q0[1], r6, r10
  vmov r0, r1, s28, s29
  vmax.s32 q0, q0, q4
  ldr r2, [sp, #COLUMNS_STEP]
  vmin.s32 q0, q0, q5
  vstrh.32 q0, [r1, q6]
  subs r0, #2
  ble 3f
  adds r1, #4
  add r12, r12, r2
  cmp r0, #1
  ittt eq  // a single column is left, and comes with the one before
  subeq r12, r12, r2, lsr #1
  subeq r1, #2
  moveq r0, #2
  vmov s28, s29, r0, r1
  b 1b
3:
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_multiply_matrix_vectors_int16, .-cmsis_nn_delegate_multiply_matrix_vectors_int16

#endif
