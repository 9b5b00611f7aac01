// The inner loops of runtime/kernels/mul/mul_rounded.h for Armv7E-M and Armv8-M with DSP.
//
// SXTAB16 widens every second byte of a word and adds the offset of the input, so that SMULBB and SMULTT multiply steps
// from zero. SMMLAR multiplies and rounds half up: first by the multiplier m, in which 2 m = 2^32 + r6 and the number
// itself is added for the 2^32; then by twice the unit, and adds the zero point.
// Inputs and output need not be aligned, so accesses to words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/mul/mul_rounded_members.h"

  .syntax unified
  .thumb

// Four products become results in the bytes of `p0`. A result and 128 have 16 bits, because the unit is at most 2^29 +
// 1. r6 - r8 as below.
.macro SCALE_FOUR p0, p1, p2, p3
  smmlar \p0, \p0, r6, \p0
  smmlar \p1, \p1, r6, \p1
  smmlar \p2, \p2, r6, \p2
  smmlar \p3, \p3, r6, \p3
  smmlar \p0, \p0, r7, r8
  smmlar \p1, \p1, r7, r8
  smmlar \p2, \p2, r7, r8
  smmlar \p3, \p3, r7, r8
  pkhbt \p0, \p0, \p2, lsl #16
  pkhbt \p1, \p1, \p3, lsl #16
  usat16 \p0, #8, \p0
  usat16 \p1, #8, \p1
  orr \p0, \p0, \p1, lsl #8
  eor \p0, \p0, #0x80808080
.endm

// Limits the four bytes of `results` to those at sp + `limits`: SSUB8 sets a flag for each byte whose difference is not
// negative, and SEL takes the first byte where it is set. The other registers are changed.
.macro LIMIT_FOUR results, least, most, difference, limits
  ldrd \least, \most, [sp, #\limits]
  ssub8 \difference, \results, \least
  sel \results, \results, \least
  ssub8 \difference, \most, \results
  sel \results, \results, \most
.endm

// Loads the numbers of the product at `p`: r4 and r5 get both offsets, each in both halves, r6 2 m - 2^32, r7 twice the
// unit, r8 the zero point and 128. `least` and `most` get the limits, and the flags say whether they are needed.
.macro LOAD_PRODUCT p, least, most
  NEIGHBOURS ROUNDED_PRODUCT_OFFSET1, ROUNDED_PRODUCT_OFFSET2, ROUNDED_PRODUCT_MULTIPLIER, ROUNDED_PRODUCT_UNIT, \
             ROUNDED_PRODUCT_OUTPUT_OFFSET, ROUNDED_PRODUCT_LIMITED, ROUNDED_PRODUCT_LEAST, ROUNDED_PRODUCT_MOST
  .if ROUNDED_PRODUCT_OFFSET1
  .error "offsets are loaded from the beginning of the struct"
  .endif
  ldm \p, {r4-r8}
  ldr \least, [\p, #ROUNDED_PRODUCT_LIMITED]
  pkhbt r4, r4, r4, lsl #16
  pkhbt r5, r5, r5, lsl #16
  lsl r6, r6, #1
  lsl r7, r7, #1
  add r8, r8, #128
  cmp \least, #0
  ldrd \least, \most, [\p, #ROUNDED_PRODUCT_LEAST]
.endm

#define SAVED_BYTES 40

// Products of four elements, in lr, r11, r12 and r9; also changes r10.
.macro MULTIPLY_FOUR
  ldr r9, [r0], #4
  ldr r10, [r1], #4
  sxtab16 r11, r4, r9  // elements 0 and 2
  sxtab16 r9, r4, r9, ror #8  // elements 1 and 3
  sxtab16 r12, r5, r10
  sxtab16 r10, r5, r10, ror #8
  smulbb lr, r11, r12
  smultt r11, r11, r12
  smulbb r12, r9, r10
  smultt r9, r9, r10
.endm

// void cmsis_nn_delegate_mul_rounded_dsp(
//     const int8_t* a,           r0
//     const int8_t* b,           r1
//     int8_t* output,            r2
//     int32_t words,             r3
//     const RoundedProduct* p)   [sp]   (r12 until its members are loaded)
//
// Register usage: r4 - r8 as in LOAD_PRODUCT, r9-r12 lr inputs and products. Limits lie on the stack.
//
// Cost: 27 instructions for 4 elements, 32 with limits.
//
// Bounds: reads and writes 4 bytes of each operand `words` times, and `words` is at least 1: its caller computes the
// last one to three elements. All inputs of a word are read before its results are written, so the output may be one of
// the inputs. There is no table.
  FUNCTION cmsis_nn_delegate_mul_rounded_dsp
  push {r3-r11, lr}
  ldr r12, [sp, #SAVED_BYTES]
  LOAD_PRODUCT r12, r10, r11
  bne 2f
1:
  MULTIPLY_FOUR
  SCALE_FOUR lr, r12, r11, r9
  str lr, [r2], #4
  subs r3, #1
  bne 1b
  pop {r3-r11, pc}
2:
  push {r10, r11}
3:
  MULTIPLY_FOUR
  SCALE_FOUR lr, r12, r11, r9
  LIMIT_FOUR lr, r10, r11, r12, 0
  str lr, [r2], #4
  subs r3, #1
  bne 3b
  add sp, #8
  pop {r3-r11, pc}
  .size cmsis_nn_delegate_mul_rounded_dsp, .-cmsis_nn_delegate_mul_rounded_dsp

// The frame of rows: where the next inputs of the row lie, their offset, rows, limits, how far the next column lies
// before the end of one, and where the row ends.
#define ROW 0
#define OFFSET2 8
#define ROWS 12
#define LIMITS 16
#define BACK 24
#define END 28
#define FRAME 32

// Computes columns of four elements, one after the other, and returns. `limit` limits the results in r10.
.macro COMPUTE_COLUMNS limit:vararg
1:  // a column
  ldr r10, [sp, #ROW]
  ldr r5, [sp, #OFFSET2]
  ldr r3, [sp, #ROWS]
  ldr r11, [r10], #4
  str r10, [sp, #ROW]
  sxtab16 r9, r5, r11, ror #8  // elements 1 and 3
  sxtab16 r5, r5, r11  // elements 0 and 2
2:  // four elements
  ldr r10, [r0]
  sxtab16 r11, r4, r10
  sxtab16 r12, r4, r10, ror #8
  smulbb r10, r11, r5
  smultt r11, r11, r5
  smulbb lr, r12, r9
  smultt r12, r12, r9
  SCALE_FOUR r10, lr, r11, r12
  \limit
  str r10, [r0, r1]
  add r0, r2
  subs r3, #1
  bne 2b
  ldr r10, [sp, #ROW]
  ldrd r11, r12, [sp, #BACK]
  sub r0, r11
  cmp r10, r12
  bne 1b
  add sp, #FRAME
  pop {r3-r11, pc}
.endm

// void cmsis_nn_delegate_mul_rounded_rows_dsp(
//     const int8_t* a,           r0
//     const int8_t* row,         r1
//     int8_t* output,            r2
//     int32_t columns,           r3
//     int32_t rows,              [sp]       (r9 until they are counted)
//     const RoundedProduct* p)   [sp, #4]   (r12 until its members are loaded)
//
// Four elements of the row stay in registers for all rows of the image.
//
// Register usage: r0 the input; r1 how far the output lies behind it, r2 columns, r3 rows left, r5 and r9 elements of
// the row, r4 and r6 - r8 as in LOAD_PRODUCT, r10-r12 lr inputs and products.
//
// Cost: 25 instructions for 4 elements, 30 with limits, and 12 for each 4 columns.
//
// Bounds: reads and writes 4 bytes of each of `rows` rows for each 4 columns, and 4 bytes of `row`; both numbers are at
// least 1, as is columns / 4: its caller computes the last one to three columns. All inputs of a word are read before
// its results are written, so the output may be `a`. There is no table.
  FUNCTION cmsis_nn_delegate_mul_rounded_rows_dsp
  push {r3-r11, lr}
  ldrd r9, r12, [sp, #SAVED_BYTES]
  LOAD_PRODUCT r12, r10, r11
  mul r12, r9, r3
  sub r12, r12, #4
  bic lr, r3, #3
  add lr, r1
  push {r1, r3, r5, r9-r12, lr}  // the frame
  sub r1, r2, r0
  mov r2, r3
  bne 3f
  COMPUTE_COLUMNS
3:
  COMPUTE_COLUMNS LIMIT_FOUR r10, r11, r12, lr, LIMITS
  .size cmsis_nn_delegate_mul_rounded_rows_dsp, .-cmsis_nn_delegate_mul_rounded_rows_dsp

#endif
