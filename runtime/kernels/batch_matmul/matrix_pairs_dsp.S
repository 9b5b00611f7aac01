// The inner loops of runtime/kernels/batch_matmul/matrix_pairs.h for Armv7E-M and Armv8-M with DSP.
//
// Both inputs are widened to pairs of int16, with their offsets, so that each sum of two products is one SMLAD. Two
// rows of the first input by four of the second one take 8 registers for sums; two are left for words of each input.
// Rows and results need not be aligned: loads and stores of single words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/batch_matmul/matrix_pairs_members.h"

  .syntax unified
  .thumb

// The stack while the function runs: the MatrixPairs at its own offsets, and then
#define ROWS_END MATRIX_PAIRS_BYTES
#define ENTRY (MATRIX_PAIRS_BYTES + 4)       // the code for what follows the first four elements
#define STACK_BYTES (MATRIX_PAIRS_BYTES + 12)  // with the saved registers, a multiple of 8

// Products of a pair of elements of both rows with those of four columns: 11 instructions for 16 products.
.macro PAIR
  ldm r0!, {r2, r3}
  ldm r1!, {r12, lr}
  smlad r4, r2, r12, r4
  smlad r8, r3, r12, r8
  smlad r5, r2, lr, r5
  smlad r9, r3, lr, r9
  ldm r1!, {r12, lr}
  smlad r6, r2, r12, r6
  smlad r10, r3, r12, r10
  smlad r7, r2, lr, r7
  smlad r11, r3, lr, r11
.endm
// The same where sums begin.
.macro FIRST_PAIR
  ldm r0!, {r2, r3}
  ldm r1!, {r12, lr}
  smuad r4, r2, r12
  smuad r8, r3, r12
  smuad r5, r2, lr
  smuad r9, r3, lr
  ldm r1!, {r12, lr}
  smuad r6, r2, r12
  smuad r10, r3, r12
  smuad r7, r2, lr
  smuad r11, r3, lr
.endm
#define FOUR_BYTES (84 + LANDING_PAD_BYTES)  // of the code of two PAIRs

// Form ANY of aot/cmsis_nn_delegate/providers/tuned/requantization.py.
.macro REQUANTIZE sum
  lsl \sum, \sum, #1
  smmlar r12, \sum, r2, r3
  add \sum, r12, \sum, asr #31
  asr \sum, \sum, r0
  ssat \sum, #8, \sum
.endm

.macro PACK a, b, c, d
  bfi \a, \b, #8, #8
  bfi \a, \c, #16, #8
  bfi \a, \d, #24, #8
.endm

// Limits four results at a time: SSUB8 sets a flag for each byte whose difference is not negative, and SEL takes the
// first byte where it is set.
.macro LIMIT word
  ssub8 r12, \word, r2
  sel \word, \word, r2
  ssub8 r12, r3, \word
  sel \word, \word, r3
.endm

// void cmsis_nn_delegate_multiply_matrix_pairs(
//     const MatrixPairs* pairs)   r0
//
// Register usage
//   Rows      r0, and r2 r3 a pair of both
//   Columns   r1, and r12 lr a pair of two
//   Sums      r4 r5 r6 r7      first row, by column
//             r8 r9 r10 r11    second row
//   All else lies on the stack, where MatrixPairs is copied to.
//
// Cost, for four columns of both rows: 22 instructions for each four elements, 32 products; 3 for each 16 elements
// behind the first four; and 63, and 9 more with limits. A call takes 18.
//
// Bounds: of rows, 16 bytes are read for each of `fours`, of the table 32 for each four columns, rounded up, which
// compute_batch_matmul_pairs() has written. The first four elements are multiplied before the loop, whose first turn
// skips as many fours as `fours` - 1 is less than a multiple of 4, so that the last one ends with the row. Four results
// of a row are stored as a word, which need not be aligned; the last ones end where the columns end: init() compares
// their number with 4.
  FUNCTION cmsis_nn_delegate_multiply_matrix_pairs
  push {r4-r11, lr}
  NEIGHBOURS MATRIX_PAIRS_ROWS, MATRIX_PAIRS_TABLE, MATRIX_PAIRS_OUTPUT0, MATRIX_PAIRS_OUTPUT1, MATRIX_PAIRS_COLUMNS, \
             MATRIX_PAIRS_FOURS, MATRIX_PAIRS_SHIFT, MATRIX_PAIRS_MULTIPLIER, MATRIX_PAIRS_CORRECTION, \
             MATRIX_PAIRS_LIMITED, MATRIX_PAIRS_LEAST, MATRIX_PAIRS_MOST, MATRIX_PAIRS_BYTES
  ldm r0, {r1-r12}
  sub sp, #STACK_BYTES
  stm sp, {r1-r12}
  add r1, r1, r6, lsl #4
  subs r6, r6, #1
  adr.w r3, .Lsums
  beq 1f
  rsb r6, r6, #0
  and r6, r6, #3
  mov r4, #FOUR_BYTES
  adr.w r3, .Lsixteen
  mla r3, r6, r4, r3
1:
  orr r3, r3, #1
  NEIGHBOURS ROWS_END, ENTRY
  strd r1, r3, [sp, #ROWS_END]
  mov r1, r2

.Lcolumns:  // four of them
  ldr r0, [sp, #MATRIX_PAIRS_ROWS]
  FIRST_PAIR
  PAIR
  ldr pc, [sp, #ENTRY]
.Lsixteen:  // elements
  LANDING_PAD
  PAIR
  PAIR
  CODE_BYTES .Lsixteen, FOUR_BYTES
  LANDING_PAD
  PAIR
  PAIR
  LANDING_PAD
  PAIR
  PAIR
  LANDING_PAD
  PAIR
  PAIR
  CODE_BYTES .Lsixteen, 4 * FOUR_BYTES
  ldr r12, [sp, #ROWS_END]
  cmp r0, r12
  bne .Lsixteen
.Lsums:
  LANDING_PAD
  NEIGHBOURS MATRIX_PAIRS_MULTIPLIER, MATRIX_PAIRS_CORRECTION
  ldrd r2, r3, [sp, #MATRIX_PAIRS_MULTIPLIER]
  ldr r0, [sp, #MATRIX_PAIRS_SHIFT]
  REQUANTIZE r4
  REQUANTIZE r5
  REQUANTIZE r6
  REQUANTIZE r7
  REQUANTIZE r8
  REQUANTIZE r9
  REQUANTIZE r10
  REQUANTIZE r11
  PACK r4, r5, r6, r7
  PACK r8, r9, r10, r11
  ldr r0, [sp, #MATRIX_PAIRS_LIMITED]
  cbz r0, 2f
  NEIGHBOURS MATRIX_PAIRS_LEAST, MATRIX_PAIRS_MOST
  ldrd r2, r3, [sp, #MATRIX_PAIRS_LEAST]
  LIMIT r4
  LIMIT r8
2:
  NEIGHBOURS MATRIX_PAIRS_OUTPUT0, MATRIX_PAIRS_OUTPUT1
  ldrd r2, r3, [sp, #MATRIX_PAIRS_OUTPUT0]
  ldr r0, [sp, #MATRIX_PAIRS_COLUMNS]
  str r4, [r2], #4
  str r8, [r3], #4
  subs r0, r0, #4
  beq 4f
  cmp r0, #4
  blt 3f
  strd r2, r3, [sp, #MATRIX_PAIRS_OUTPUT0]
  str r0, [sp, #MATRIX_PAIRS_COLUMNS]
  b .Lcolumns
3:  // the last one to three, and before them some that have been there before
  rsb r0, r0, #4
  sub r2, r2, r0
  sub r3, r3, r0
  mov r0, #4
  strd r2, r3, [sp, #MATRIX_PAIRS_OUTPUT0]
  str r0, [sp, #MATRIX_PAIRS_COLUMNS]
  b .Lcolumns
4:
  add sp, #STACK_BYTES
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_multiply_matrix_pairs, .-cmsis_nn_delegate_multiply_matrix_pairs

// void cmsis_nn_delegate_widen_two_rows(
//     const int8_t* rows,   r0
//     int32_t step,         r1
//     int32_t* out,         r2
//     int32_t words,        r3
//     int32_t offsets)      on the stack
//
// Register usage: lr r8 words of both rows; r4 r5 what is in their even bytes, r6 r7 in the odd ones; r12 the offset in
// both halves.
//
// Cost: 9 instructions for 4 elements of two rows.
//
// Bounds: reads 4 bytes of each row and writes 16 bytes, `words` times, which is at least 1. Callers give whole words
// of rows.
  FUNCTION cmsis_nn_delegate_widen_two_rows
  push {r4-r8, lr}
  ldr r12, [sp, #24]
1:
  ldr r8, [r0, r1]
  ldr lr, [r0], #4
  subs r3, r3, #1
  sxtab16 r4, r12, lr
  sxtab16 r5, r12, r8
  sxtab16 r6, r12, lr, ror #8
  sxtab16 r7, r12, r8, ror #8
  stm r2!, {r4-r7}
  bne 1b
  pop {r4-r8, pc}
  .size cmsis_nn_delegate_widen_two_rows, .-cmsis_nn_delegate_widen_two_rows

// void cmsis_nn_delegate_widen_four_rows(
//     const int8_t* rows,   r0
//     int32_t step,         r1
//     int32_t* out,         r2
//     int32_t words,        r3
//     int32_t offsets)      on the stack
//
// Register usage: r4-r7 words of the rows, then what is in their odd bytes; r8-r11 what is in the even ones; r12 three
// steps, lr the offset in both halves.
//
// Cost: 16 instructions for 4 elements of four rows.
//
// Bounds: reads 4 bytes of each row and writes 32 bytes, `words` times, which is at least 1. Callers give whole words
// of rows.
  FUNCTION cmsis_nn_delegate_widen_four_rows
  push {r4-r11, lr}
  ldr lr, [sp, #36]
  add r12, r1, r1, lsl #1
1:
  ldr r5, [r0, r1]
  ldr r6, [r0, r1, lsl #1]
  ldr r7, [r0, r12]
  ldr r4, [r0], #4
  subs r3, r3, #1
  sxtab16 r8, lr, r4
  sxtab16 r9, lr, r5
  sxtab16 r10, lr, r6
  sxtab16 r11, lr, r7
  stm r2!, {r8-r11}
  sxtab16 r4, lr, r4, ror #8
  sxtab16 r5, lr, r5, ror #8
  sxtab16 r6, lr, r6, ror #8
  sxtab16 r7, lr, r7, ror #8
  stm r2!, {r4-r7}
  bne 1b
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_widen_four_rows, .-cmsis_nn_delegate_widen_four_rows

#endif
