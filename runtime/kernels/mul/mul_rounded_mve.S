// The inner loops of runtime/kernels/mul/mul_rounded.h for MVE.
//
// VQRDMULH multiplies and rounds half up, as the operator does: by the multiplier, and by the unit. Nothing saturates:
// products have 17 bits, and both factors are less than 2^31. The narrowing instructions saturate to int16, which no
// result exceeds, the zero point added, because the unit is at most 2^29 + 1, and then to int8.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/mul/mul_rounded_members.h"

  .syntax unified
  .thumb

#define SAVED_BYTES 104

// Two vectors of products become results of 16 bits in `even`. r6, r8 and r12 as below.
.macro SCALE_EIGHT even, odd
  vqrdmulh.s32 \even, \even, r6
  vqrdmulh.s32 \odd, \odd, r6
  vqrdmulh.s32 \even, \even, r12
  vqrdmulh.s32 \odd, \odd, r12
  vqmovnb.s32 \even, \even
  vqmovnt.s32 \even, \odd
  vadd.i16 \even, \even, r8
.endm

// Multiplies 8 numbers of 16 bits: products of the even ones in `even`, of the odd ones in `a`. q5 is changed. VMULLB and
// VMULLT would take 2 instructions in the place of 6, but Renode computes something else.
.macro PRODUCTS even, a, b
  vmovlb.s16 \even, \a
  vmovlb.s16 q5, \b
  vmul.i32 \even, \even, q5
  vshr.s32 \a, \a, #16
  vshr.s32 q5, \b, #16
  vmul.i32 \a, \a, q5
.endm

// Loads the numbers of the product at r12: r4 and r5 get the offsets of the inputs, r6 the multiplier, r8 the zero
// point, r12 the unit, q6 the least and q7 the most results. r7, r9 and r11 are changed.
.macro LOAD_PRODUCT
  NEIGHBOURS ROUNDED_PRODUCT_OFFSET1, ROUNDED_PRODUCT_OFFSET2, ROUNDED_PRODUCT_MULTIPLIER, ROUNDED_PRODUCT_UNIT, \
             ROUNDED_PRODUCT_OUTPUT_OFFSET
  NEIGHBOURS ROUNDED_PRODUCT_LEAST, ROUNDED_PRODUCT_MOST
  .if ROUNDED_PRODUCT_OFFSET1
  .error "offsets are loaded from the beginning of the struct"
  .endif
  ldrd r9, r11, [r12, #ROUNDED_PRODUCT_LEAST]
  ldm r12, {r4-r8}
  mov r12, r7
  vdup.32 q6, r9
  vdup.32 q7, r11
.endm

// Sixteen elements, in q0 and q3, become results in q2.
.macro MULTIPLY_SIXTEEN
  vmovlb.s8 q1, q0
  vmovlb.s8 q4, q3
  vmovlt.s8 q0, q0
  vmovlt.s8 q3, q3
  vadd.i16 q1, q1, r4
  vadd.i16 q4, q4, r5
  vadd.i16 q0, q0, r4
  vadd.i16 q3, q3, r5
  PRODUCTS q2, q1, q4
  SCALE_EIGHT q2, q1
  PRODUCTS q4, q0, q3
  SCALE_EIGHT q4, q0
  vqmovnb.s16 q2, q2
  vqmovnt.s16 q2, q4
  vmax.s8 q2, q2, q6
  vmin.s8 q2, q2, q7
.endm

// void cmsis_nn_delegate_mul_rounded_rows_mve(
//     const int8_t* a,           r0
//     const int8_t* row,         r1
//     int8_t* output,            r2
//     int32_t columns,           r3
//     int32_t rows,              [sp]       (r10)
//     int32_t stride,            [sp, #4]   (r11 until r9 has what follows from it)
//     const RoundedProduct* p)   [sp, #8]   (r12 until its members are loaded)
//
// Register usage
//   r4-r6 r8 r12 q6 q7 as in LOAD_PRODUCT, r3 elements after the last whole vector of a row, r7 its vectors, r9 how far the
//   next row lies behind them, r11 where the next elements of the row lie, lr vectors left, q0-q5 inputs and products
//
// Cost: 42 instructions for 16 elements, 45 for the last 1 to 15 of a row, and 9 for a row.
//
// Bounds: reads and writes `columns` bytes every `stride` bytes, `rows` times, and reads the row as often; both numbers
// are at least 1. What is no whole vector is read and written with a predicate. It may not be the loop's, because an
// element has more bytes while it is multiplied. The inputs of a vector are read before its results are written, so the
// output may be one of the inputs. There is no table.
  FUNCTION cmsis_nn_delegate_mul_rounded_rows_mve
  push {r3-r11, lr}
  vpush {d8-d15}
  ldr r12, [sp, #SAVED_BYTES + 8]
  LOAD_PRODUCT
  ldrd r10, r11, [sp, #SAVED_BYTES]
  lsr r7, r3, #4
  sub r9, r11, r7, lsl #4
  and r3, r3, #15
  vctp.8 r3
1:  // a row
  mov r11, r1
  wls lr, r7, 3f
2:
  vldrb.8 q0, [r0], #16
  vldrb.8 q3, [r11], #16
  MULTIPLY_SIXTEEN
  vstrb.8 q2, [r2], #16
  le lr, 2b
3:
  cmp r3, #0
  beq 4f
  vpstt
  vldrbt.8 q0, [r0]
  vldrbt.8 q3, [r11]
  MULTIPLY_SIXTEEN
  vpst
  vstrbt.8 q2, [r2]
4:
  add r0, r9
  add r2, r9
  subs r10, #1
  bne 1b
  vpop {d8-d15}
  pop {r3-r11, pc}
  .size cmsis_nn_delegate_mul_rounded_rows_mve, .-cmsis_nn_delegate_mul_rounded_rows_mve

// void cmsis_nn_delegate_mul_rounded_columns_mve(
//     const int8_t* a,           r0
//     const int8_t* row,         r1
//     int8_t* output,            r2
//     int32_t columns,           r3
//     int32_t rows,              [sp]       (r10)
//     const RoundedProduct* p)   [sp, #4]   (r12 until its members are loaded)
//
// Sixteen elements of the row stay in registers for all rows of the image.
//
// Register usage
//   r4-r6 r8 r12 q6 q7 as in LOAD_PRODUCT, r9 how far the next columns lie before the end of these, r11 where the row ends,
//   lr rows left, q3 and q4 elements of the row, q0-q2 q5 inputs and products
//
// Cost: 39 instructions for 16 elements, and 10 for each 16 columns.
//
// Bounds: reads and writes 16 bytes of each of `rows` rows for each 16 columns, and 16 bytes of `row`; `rows` is at
// least 1, as is columns / 16: its caller computes the columns after the last 16. The inputs of a vector are read
// before its results are written, so the output may be `a`. There is no table.
  FUNCTION cmsis_nn_delegate_mul_rounded_columns_mve
  push {r3-r11, lr}
  vpush {d8-d15}
  ldrd r10, r12, [sp, #SAVED_BYTES]
  LOAD_PRODUCT
  mul r9, r10, r3
  sub r9, r9, #16
  bic r11, r3, #15
  add r11, r1
1:  // 16 columns
  vldrb.8 q4, [r1], #16
  vmovlb.s8 q3, q4
  vmovlt.s8 q4, q4
  vadd.i16 q3, q3, r5
  vadd.i16 q4, q4, r5
  dls lr, r10
2:  // 16 elements
  vldrb.8 q0, [r0]
  add r0, r3
  vmovlb.s8 q1, q0
  vmovlt.s8 q0, q0
  vadd.i16 q1, q1, r4
  vadd.i16 q0, q0, r4
  PRODUCTS q2, q1, q3
  SCALE_EIGHT q2, q1
  PRODUCTS q1, q0, q4
  SCALE_EIGHT q1, q0
  vqmovnb.s16 q2, q2
  vqmovnt.s16 q2, q1
  vmax.s8 q2, q2, q6
  vmin.s8 q2, q2, q7
  vstrb.8 q2, [r2]
  add r2, r3
  le lr, 2b
  sub r0, r9
  sub r2, r9
  cmp r1, r11
  bne 1b
  vpop {d8-d15}
  pop {r3-r11, pc}
  .size cmsis_nn_delegate_mul_rounded_columns_mve, .-cmsis_nn_delegate_mul_rounded_columns_mve

#endif
