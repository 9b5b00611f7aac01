// The inner loops of runtime/kernels/common/softmax_table_rows.h for MVE.
//
// The table is read by gather loads, four elements at a time. VQRDMULH and VRSHL round as the reference does, because
// neither factor is negative. The loops' predicates leave out what lies behind the row.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/softmax_table_rows_members.h"

  .syntax unified
  .thumb

// int32_t cmsis_nn_delegate_softmax_most(
//     const int8_t* input,   r0
//     int32_t size)          r1
//
// Cost: 3 instructions for 16 elements.
//
// Bounds: reads `size` >= 1 elements. There is no table.
  FUNCTION cmsis_nn_delegate_softmax_most
  push {r7, lr}
  mvn r2, #127
  dlstp.8 lr, r1
1:
  vldrb.8 q0, [r0], #16
  vmaxv.s8 r2, q0
  letp lr, 1b
  mov r0, r2
  pop {r7, pc}
  .size cmsis_nn_delegate_softmax_most, .-cmsis_nn_delegate_softmax_most

// int32_t cmsis_nn_delegate_softmax_sum(
//     const SoftmaxRow* row)   r0
//
// Register usage: r1 inputs, r2 the sum, r3 the table; q2 the maximum, q0 inputs and exponentials.
//
// Cost: 6 instructions for 4 elements.
//
// Bounds: reads `size` >= 1 elements. The table has an entry for each difference of two elements.
  FUNCTION cmsis_nn_delegate_softmax_sum
  push {r7, lr}
  NEIGHBOURS SOFTMAX_ROW_TABLE, SOFTMAX_ROW_SIZE
  ldr r1, [r0, #SOFTMAX_ROW_INPUT]
  ldrd r3, r12, [r0, #SOFTMAX_ROW_TABLE]
  ldr r0, [r0, #SOFTMAX_ROW_MOST]
  vdup.32 q2, r0
  mov r2, #0
  dlstp.32 lr, r12
1:
  vldrb.s32 q0, [r1], #4
  vsub.i32 q0, q2, q0
  vldrw.u32 q1, [r3, q0, uxtw #2]
  vrshr.u32 q1, q1, #SOFTMAX_ACCUMULATION_BITS
  vaddva.u32 r2, q1
  letp lr, 1b
  mov r0, r2
  pop {r7, pc}
  .size cmsis_nn_delegate_softmax_sum, .-cmsis_nn_delegate_softmax_sum

// void cmsis_nn_delegate_softmax_write(
//     const SoftmaxRow* row)   r0
//
// Register usage: r1 inputs, r2 outputs, r3 the table, r4 the reciprocal, r5 the shift, r6 128; q2 the maximum, q3 the
// largest result, q0 q1 inputs, exponentials and results.
//
// Cost: 9 instructions for 4 elements.
//
// Bounds: reads and writes `size` >= 1 elements, each before it is written, so the output may be the input. The table
// has an entry for each difference of two elements.
  FUNCTION cmsis_nn_delegate_softmax_write
  push {r3-r7, lr}
  NEIGHBOURS SOFTMAX_ROW_INPUT, SOFTMAX_ROW_OUTPUT
  NEIGHBOURS SOFTMAX_ROW_TABLE, SOFTMAX_ROW_SIZE
  NEIGHBOURS SOFTMAX_ROW_INVERSE, SOFTMAX_ROW_EXPONENT
  ldrd r1, r2, [r0, #SOFTMAX_ROW_INPUT]
  ldrd r3, r12, [r0, #SOFTMAX_ROW_TABLE]
  ldrd r4, r5, [r0, #SOFTMAX_ROW_INVERSE]
  ldr r0, [r0, #SOFTMAX_ROW_MOST]
  vdup.32 q2, r0
  rsb r5, r5, #0  // to the right
  mov r6, #128
  vmov.i32 q3, #127
  dlstp.32 lr, r12
1:
  vldrb.s32 q0, [r1], #4
  vsub.i32 q0, q2, q0
  vldrw.u32 q1, [r3, q0, uxtw #2]
  vqrdmulh.s32 q1, q1, r4
  vrshl.s32 q1, r5
  vsub.i32 q1, q1, r6
  vmin.s32 q1, q1, q3
  vstrb.32 q1, [r2], #4
  letp lr, 1b
  pop {r3-r7, pc}
  .size cmsis_nn_delegate_softmax_write, .-cmsis_nn_delegate_softmax_write

#endif
