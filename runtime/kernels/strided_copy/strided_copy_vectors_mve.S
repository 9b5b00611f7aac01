// The inner loops of runtime/kernels/strided_copy/strided_copy_vectors.h for MVE.
//
// Where the bytes of a row lie together in both tensors, 16 of them are loaded and stored at a time. Else a gather load and a
// scatter store take them, with the offsets 0, step, 2 * step and so on.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/strided_copy/copy_axis_members.h"

  .syntax unified
  .thumb

// void cmsis_nn_delegate_copy_rows(
//     const int8_t* in,       r0
//     int8_t* out,            r1
//     const CopyAxis* rows,   r2
//     const CopyAxis* row)    r3
//
// Register usage: r2 rows left, r3 r4 from a row to the next one, r5 bytes of a row, r6 r7 from 16 bytes to the next ones,
// r8 r9 where vectors begin; q0 bytes, q1 q2 offsets of a vector in the input and in the output.
//
// Cost: 3 instructions for 16 bytes that lie together, else 5, or for the last ones of a row; 8 more for each row.
//
// Bounds: copies `row`.size bytes of each of `rows`.size rows, both at least 1; the loop's predicate leaves out what lies
// behind a row, in gather loads and scatter stores too. The call's geometry says that all steps stay inside the tensors.
// Steps of a row are 0 to 17, as strided_copy_vectors_accepts() says, so that offsets fit into bytes: 15 * 17 = 255.
  FUNCTION cmsis_nn_delegate_copy_rows
  push {r3-r9, lr}
  NEIGHBOURS COPY_AXIS_SIZE, COPY_AXIS_INPUT_STRIDE, COPY_AXIS_OUTPUT_STRIDE
  ldm r3, {r5, r6, r7}
  ldm r2, {r2, r3, r4}
  cmp r6, #1
  it eq
  cmpeq r7, #1
  bne 3f
1:
  mov r8, r0
  mov r9, r1
  dlstp.8 lr, r5
2:
  vldrb.8 q0, [r8], #16
  vstrb.8 q0, [r9], #16
  letp lr, 2b
  add r0, r0, r3
  add r1, r1, r4
  subs r2, #1
  bne 1b
  pop {r3-r9, pc}

3:
  movs r8, #0
  vidup.u8 q1, r8, #1
  vmul.i8 q2, q1, r7
  vmul.i8 q1, q1, r6
  lsl r6, r6, #4
  lsl r7, r7, #4
4:
  mov r8, r0
  mov r9, r1
  dlstp.8 lr, r5
5:
  vldrb.u8 q0, [r8, q1]
  vstrb.8 q0, [r9, q2]
  add r8, r8, r6
  add r9, r9, r7
  letp lr, 5b
  add r0, r0, r3
  add r1, r1, r4
  subs r2, #1
  bne 4b
  pop {r3-r9, pc}
  .size cmsis_nn_delegate_copy_rows, .-cmsis_nn_delegate_copy_rows

#endif
