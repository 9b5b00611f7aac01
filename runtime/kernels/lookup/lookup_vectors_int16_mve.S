// The inner loop of runtime/kernels/lookup/lookup_vectors_int16.h for MVE.
//
// Elements and entries are widened to 32 bits where they are loaded, since the product of a difference of entries and a
// distance has up to 24 bits.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/lookup/interpolated_table_members.h"

  .syntax unified
  .thumb

// void cmsis_nn_delegate_look_up_int16(
//     const InterpolatedTable* table,   r0
//     const int16_t* input,             r1
//     int16_t* output,                  r2
//     int32_t count)                    r3
//
// Register usage: r4 the first entry, r12 the second one, r5 the shift, less than 0 because it is to the right, r6 32768;
// q0 elements, then their distances from the entry before; q1 places of entries, q2 these entries, q3 the ones behind
// them; q4 the bits of a distance, q5 and q6 the limits of results.
//
// Cost: 14 instructions for 4 elements, or for the last ones, of which two are gather loads.
//
// Bounds: reads and writes `count` >= 1 elements; the loop's predicate leaves out what lies behind them, in gather loads
// too. The place of an entry is at most 65535 >> shift, which is the last but one of the table. A vector is read before it
// is written, so the output may be the input.
  FUNCTION cmsis_nn_delegate_look_up_int16
  push {r4-r7, lr}
  vpush {d8-d13}
  NEIGHBOURS INTERPOLATED_TABLE_ENTRIES, INTERPOLATED_TABLE_SHIFT, INTERPOLATED_TABLE_LEAST, \
    INTERPOLATED_TABLE_MOST
  ldm r0, {r4, r5, r6, r7}
  vdup.32 q5, r6
  vdup.32 q6, r7
  add r12, r4, #2
  movs r6, #1
  lsls r6, r5
  subs r6, #1
  vdup.32 q4, r6
  rsbs r5, r5, #0
  mov.w r6, #32768
  dlstp.32 lr, r3
1:
  vldrh.s32 q0, [r1], #8
  vadd.i32 q1, q0, r6
  vshl.s32 q1, r5
  vldrh.s32 q2, [r4, q1, uxtw #1]
  vldrh.s32 q3, [r12, q1, uxtw #1]
  vand q0, q0, q4
  vsub.i32 q3, q3, q2
  vmul.i32 q3, q3, q0
  vrshl.s32 q3, r5  // a half is rounded up
  vadd.i32 q2, q2, q3
  vmax.s32 q2, q2, q5
  vmin.s32 q2, q2, q6
  vstrh.32 q2, [r2], #8
  letp lr, 1b
  vpop {d8-d13}
  pop {r4-r7, pc}
  .size cmsis_nn_delegate_look_up_int16, .-cmsis_nn_delegate_look_up_int16

#endif
