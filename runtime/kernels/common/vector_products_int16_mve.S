// The inner loop of runtime/kernels/common/vector_products.h for inputs and results of int16, for MVE.
//
// VLDRB.S16 widens weights where they are loaded, so that a vector has 8 products instead of 16 in as many instructions.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/vector_products_loops_mve.h"

  .syntax unified
  .thumb

// Shifts and narrows the eight sums in q0 and q1.
.macro SHIFT_DOWN
  vrshl.s32 q0, r8
  vrshl.s32 q1, r10
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
.endm
// LEAST is a ReLU, and q6 its least result, 0.
.macro NARROW
  SHIFT_DOWN
  vmax.s16 q0, q0, q6
.endm

// void cmsis_nn_delegate_multiply_vectors_int16(
//     const VectorProductsOf<int16_t>* products)   r0
// void cmsis_nn_delegate_multiply_nibble_vectors_int16(   the same with weights of 4 bits
//
// Register usage and bounds are those of cmsis_nn_delegate_multiply_vectors, with vectors of 8 inputs in as many bytes, 8
// weights of a channel for each in the table, and results of two bytes; q5 is free.
//
// Cost, for two channels of four windows of V <= 8 vectors: 14 V + 21 instructions with form LEAST, 14 V + 26 with ANY.
// Of more vectors: 14 more each, 2 for each four of them and 10 once. With weights of 4 bits, 16 V and 16, and 10 more with
// form LEAST, 14 with ANY: they may shift to the left too.
  MULTIPLY_VECTORS cmsis_nn_delegate_multiply_vectors_int16, vldrb.s16, 8, 0, VECTOR_CODE, vldrh.16, s16, 1, SHIFT_DOWN, \
                   NARROW, vstrh.16
  MULTIPLY_VECTORS cmsis_nn_delegate_multiply_nibble_vectors_int16, vldrb.s16, 8, 1, NIBBLES_CODE_INT16, vldrh.16, s16, \
                   1, SHIFT_DOWN, NARROW, vstrh.16

#endif
