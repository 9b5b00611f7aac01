// The inner loop of runtime/kernels/lookup/lookup_vectors.h for MVE.
//
// A gather load takes bytes without a sign as offsets. With their sign changed, elements of int8 are those from the first
// entry of the table, which is for -128.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/tuned/assembly.h"

  .syntax unified
  .thumb

// void cmsis_nn_delegate_look_up(
//     const int8_t* input,   r0
//     const int8_t* table,   r1
//     int8_t* output,        r2
//     int32_t count)         r3
//
// Register usage: q0 elements, then offsets; q1 entries; q2 the bit of the sign in each byte.
//
// Cost: 5 instructions for 16 elements, or for the last ones; the gather load is the slowest of them.
//
// Bounds: reads and writes `count` >= 1 elements; the loop's predicate leaves out what lies behind them, in the gather load
// too. The table has 256 entries, one for each offset. A vector is read before it is written, so the output may be the
// input.
  FUNCTION cmsis_nn_delegate_look_up
  push {r7, lr}
  vmov.i8 q2, #0x80
  dlstp.8 lr, r3
1:
  vldrb.8 q0, [r0], #16
  veor q0, q0, q2
  vldrb.u8 q1, [r1, q0]
  vstrb.8 q1, [r2], #16
  letp lr, 1b
  pop {r7, pc}
  .size cmsis_nn_delegate_look_up, .-cmsis_nn_delegate_look_up

#endif
