// The inner loops of runtime/kernels/common/vector_products.h for MVE.
//
// VMLADAVA adds 16 products to a register with an even number, of which there are eight: the sums of 4 windows by 2
// channels. The odd ones hold the addresses of windows, weights and results.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/vector_products_loops_mve.h"

  .syntax unified
  .thumb

// Shifts and narrows the eight sums in q0 and q1, and adds q5, the zero point.
.macro SHIFT_AND_ADD_ZERO_POINT
  vrshl.s32 q0, r8
  vrshl.s32 q1, r10
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  vqadd.s16 q0, q0, q5
.endm
.macro NARROW
  SHIFT_AND_ADD_ZERO_POINT
  vqmovnb.s16 q0, q0
.endm

// void cmsis_nn_delegate_multiply_vectors(
//     const VectorProducts* products)   r0
// void cmsis_nn_delegate_multiply_nibble_vectors(   the same with weights of 4 bits
//
// Register usage
//   Windows   r1  r3  r5  r9
//   Weights   r7                 then starts, multipliers and shifts of the same two channels
//   Sums      r4  r6  r8  r10    first channel, by window
//             r0  r2  r12 lr     second channel
//   Output    r11                where windows have many vectors, turns of the loop while products are added
//   q0-q3     weights and inputs, then sums by window: q0 of both channels in windows 0 and 1, q1 in 2 and 3
//   q4        offsets of results; q5 zero point, q6 least, q7 most: 8 x int16
//   Products, what is left and the computed jumps lie on the stack.
//
// Layout of the table, for each two channels: 32 weights for each vector of a window, 16 of each channel, first those of
// the first vector and then those of the last to the second; 2 starts, 2 multipliers and 2 shifts, int32. With weights of
// 4 bits, 16 bytes for each vector, with those of the first channel in the lower halves; shifts are the lowest 6 bits of
// the words of starts.
//
// Cost, for two channels of four windows of V <= 8 vectors: 14 V + 22 instructions with form LEAST, 14 V + 27 with ANY.
// Of more vectors: 14 more each, 2 for each four of them and 10 once. With weights of 4 bits, 15 V and 15, and five more.
//
// Bounds: reads `vectors` * 16 bytes of each window, which its caller has: in scratch memory with 16 bytes more than all
// columns, or in the image, where run_pixels() copies the pixels that have no whole vector before the image's end. Reads
// (channels + 1) / 2 blocks of 32 * vectors + 24 bytes of the table, 16 * vectors + 16 with weights of 4 bits, once for
// each group, which is all of it: init() compares block_words and blocks. Writes 8 results at r11 + offsets while r11 is
// at most LAST, the place of the last two channels; an odd last channel is computed together with the one before, whose
// results are written again.
// Nothing is read past the end of constants, so ReadsPast is 0.
  MULTIPLY_VECTORS cmsis_nn_delegate_multiply_vectors, vldrb.8, 16, 0, VECTOR_CODE, vldrb.8, s8, 0, \
                   SHIFT_AND_ADD_ZERO_POINT, NARROW, vstrb.16
  MULTIPLY_VECTORS cmsis_nn_delegate_multiply_nibble_vectors, vldrb.8, 16, 1, NIBBLES_CODE, vldrb.8, s8, 0, \
                   SHIFT_AND_ADD_ZERO_POINT, NARROW, vstrb.16

// void cmsis_nn_delegate_copy_columns(
//     int8_t* to,             r0
//     const int8_t* from,     r1
//     int32_t columns,        r2
//     int32_t bytes,          r3
//     int32_t to_step,        [sp]      (r4 once it is loaded)
//     int32_t from_step)      [sp + 4]  (r5)
//
// Register usage: q0 the bytes; r6 r7 to and from within a column of more than 16 bytes; lr turns of the loop.
//
// Cost: up to 16 bytes, 6 instructions a column, of which 2 are vector instructions, 8 beats; more, 3 for each 16 bytes
// and 7 a column.
//
// Bounds: lanes from `bytes` on are predicated, by VCTP or by the loop itself, so that they are neither read nor written.
// `columns` and `bytes` are at least 1.
  FUNCTION cmsis_nn_delegate_copy_columns
  push {r4-r7, lr}
  ldrd r4, r5, [sp, #20]
  cmp r3, #16
  bhi 2f
  vctp.8 r3
  dls lr, r2
1:
  vpstt
  vldrbt.8 q0, [r1]
  vstrbt.8 q0, [r0]
  add r1, r1, r5
  add r0, r0, r4
  le lr, 1b
  pop {r4-r7, pc}
2:
  mov r6, r0
  mov r7, r1
  dlstp.8 lr, r3
3:
  vldrb.8 q0, [r7], #16
  vstrb.8 q0, [r6], #16
  letp lr, 3b
  add r1, r1, r5
  add r0, r0, r4
  subs r2, r2, #1
  bne 2b
  pop {r4-r7, pc}
  .size cmsis_nn_delegate_copy_columns, .-cmsis_nn_delegate_copy_columns

// void cmsis_nn_delegate_copy_windows(
//     int8_t* to,             r0
//     const int8_t* from,     r1
//     int32_t windows,        r2
//     int32_t lines,          r3
//     int32_t line_bytes,     [sp]       (r4 once it is loaded)
//     int32_t line_step,      [sp + 4]   (r5)
//     int32_t window_bytes,   [sp + 8]   (r6)
//     int32_t window_step)    [sp + 12]  (r7)
//
// Register usage: q0-q2 lines; r8 r9 the second and third of three lines, else to and from within a window; r2 r3 where the
// second and third line go; lr windows left, else lines left of a window.
//
// Cost: 14 instructions a window of three lines, of which 6 are vector instructions, 24 beats; of others 6 a line and 7 a
// window.
//
// Bounds: lanes from `line_bytes` on are not read, by VCTP. 16 bytes are stored of each line, in the order of addresses, so
// that the next line overwrites those behind a line; behind the last one of a window, less than 16 are written. `windows`
// and `lines` are at least 1, `line_bytes` is 1 to 16, and `window_bytes` at least that of the lines.
  FUNCTION cmsis_nn_delegate_copy_windows
  push {r4-r9, lr}
  ldrd r4, r5, [sp, #28]
  ldrd r6, r7, [sp, #36]
  vctp.8 r4
  cmp r3, #3
  bne 2f
  add r8, r1, r5
  add r9, r8, r5
  dls lr, r2
1:
  vpsttt
  vldrbt.8 q0, [r1]
  vldrbt.8 q1, [r8]
  vldrbt.8 q2, [r9]
  vstrb.8 q0, [r0]
  add r2, r0, r4
  add r1, r1, r7
  vstrb.8 q1, [r2]
  add r3, r2, r4
  add r8, r8, r7
  vstrb.8 q2, [r3]
  add r9, r9, r7
  add r0, r0, r6
  le lr, 1b
  pop {r4-r9, pc}
2:
  mov r8, r0
  mov r9, r1
  dls lr, r3
3:
  vpst
  vldrbt.8 q0, [r9]
  vstrb.8 q0, [r8]
  add r9, r9, r5
  add r8, r8, r4
  le lr, 3b
  add r0, r0, r6
  add r1, r1, r7
  subs r2, r2, #1
  bne 2b
  pop {r4-r9, pc}
  .size cmsis_nn_delegate_copy_windows, .-cmsis_nn_delegate_copy_windows

#endif
