// The inner loops of runtime/kernels/common/gate_vectors.h for MVE.
//
// VMLADAVA adds 16 products to a register with an even number: the sums of four rows, which are then requantized and
// passed through the function of the gate as the lanes of a vector.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/gate_lines_mve.h"
#include "runtime/kernels/common/gate_rows_members.h"

  .syntax unified
  .thumb

// The products of sixteen inputs of int8.
.macro PRODUCTS
  vldrb.8 q0, [r12], #16
  vldrb.8 q1, [r1], #16
  vmladava.s8 r4, q0, q1
  vldrb.8 q2, [r1], #16
  vmladava.s8 r6, q0, q2
  vldrb.8 q1, [r1], #16
  vmladava.s8 r8, q0, q1
  vldrb.8 q2, [r1], #16
  vmladava.s8 r10, q0, q2
.endm

// The same with weights of 4 bits: a byte is the weight of a row and 16 times that of the next one, which a shift leaves.
.macro PRODUCTS_NIBBLES
  vldrb.8 q0, [r12], #16
  vldrb.8 q1, [r1], #16
  vmladava.s8 r4, q0, q1
  vrshr.s8 q1, q1, #4
  vmladava.s8 r6, q0, q1
  vldrb.8 q2, [r1], #16
  vmladava.s8 r8, q0, q2
  vrshr.s8 q2, q2, #4
  vmladava.s8 r10, q0, q2
.endm

// What is added up with them, less 16 times the sum of the next row, is the sum of a row.
.macro SEPARATE
  sub r4, r4, r6, lsl #4
  sub r8, r8, r10, lsl #4
.endm

// The same of int16, whose weights are widened as they are loaded.
.macro PRODUCTS_INT16
  vldrh.16 q0, [r12], #16
  vldrh.16 q1, [r12], #16
  .irp sum, r4, r6, r8, r10
  vldrb.s16 q2, [r1], #8
  vmladava.s16 \sum, q0, q2
  vldrb.s16 q2, [r1], #8
  vmladava.s16 \sum, q1, q2
  .endr
.endm

// Both.
.macro PRODUCTS_NIBBLES_INT16
  vldrh.16 q0, [r12], #16
  vldrh.16 q1, [r12], #16
  TWO_ROWS_INT16 r4, r6
  TWO_ROWS_INT16 r8, r10
.endm
.macro TWO_ROWS_INT16 first, second
  .irp inputs, q0, q1
  vldrb.s16 q2, [r1], #8
  vmladava.s16 \first, \inputs, q2
  vrshr.s16 q2, q2, #4
  vmladava.s16 \second, \inputs, q2
  .endr
.endm

// Sums of four rows into q, over `vectors` times sixteen inputs at r12.
.macro SUMS q, vectors, products, separate
  ldm r1!, {r4, r6, r8, r10}
  dls lr, \vectors
1:  // sixteen inputs
  \products
  le lr, 1b
  \separate
  vmov \q[2], \q[0], r4, r8
  vmov \q[3], \q[1], r6, r10
.endm

// A function for inputs of 2^shift / 16 bytes. `separate` changes the sums of a block once all products are added.
.macro MULTIPLY_GATE name, products, shift, separate
  FUNCTION \name
  push {r4-r11, lr}
  NEIGHBOURS GATE_ROWS_INPUTS, GATE_ROWS_INPUTS_END, GATE_ROWS_HIDDEN, GATE_ROWS_HIDDEN_END
  ldrd r4, r5, [r0, #GATE_ROWS_INPUTS]
  ldrd r6, r7, [r0, #GATE_ROWS_HIDDEN]
  subs r5, r5, r4
  subs r7, r7, r6
  lsrs r5, r5, #\shift
  lsrs r7, r7, #\shift
  NEIGHBOURS GATE_ROWS_TABLE, GATE_ROWS_OUTPUT, GATE_ROWS_BLOCKS, GATE_ROWS_FUNCTION
  ldrd r1, r2, [r0, #GATE_ROWS_TABLE]
  ldrd r3, r9, [r0, #GATE_ROWS_BLOCKS]
  ldr r11, [r0, #GATE_ROWS_LINES]
2:  // four rows
  ldr r12, [r0, #GATE_ROWS_INPUTS]
  SUMS q3, r5, \products, \separate
  add r12, r0, #GATE_ROWS_SCALES
  ldm r12, {r4, r6, r8, r10}
  REQUANTIZE q3, q1, r4, r6, r8, r10
  SATURATE q3
  ldr r12, [r0, #GATE_ROWS_HIDDEN]
  SUMS q0, r7, \products, \separate
  add r12, r0, #GATE_ROWS_SCALES + GATE_SCALE_BYTES
  ldm r12, {r4, r6, r8, r10}
  REQUANTIZE q0, q1, r4, r6, r8, r10
  cmp r9, #GATE_SIGMOID
  blt 5f
  vadd.i32 q0, q0, q3
  SATURATE q0
  mov r4, #3
  mov r6, #GATE_LINES_STARTS / 4
  vmul.i32 q0, q0, r4
  add r8, r11, #GATE_LINES_STARTS * 2
  bne 4f
  vshr.s32 q1, q0, #9
  vadd.i32 q1, q1, r6
  LINES r11, r8
  vshr.s32 q0, q0, #10
3:
  vstrh.32 q0, [r2], #8
  subs r3, r3, #1
  bne 2b
  pop {r4-r11, pc}
4:
  mov r10, #0x01000100
  TANH r11, r8, r6, r10
  b 3b
5:
  ldr r4, [r0, #GATE_ROWS_GATE_STEP]
  vqmovnb.s32 q0, q0
  add r4, r2, r4, lsl #1
  vstrh.32 q0, [r4]
  vmov q0, q3
  b 3b
  .size \name, .-\name
.endm

// void cmsis_nn_delegate_multiply_gate_vectors(
//     const GateRows* gate)   r0
//
// Register usage
//   Inputs    r12, vectors of them r5 and r7; turns of the loop lr
//   Table     r1
//   Sums      r4 r6 r8 r10, then what requantizes them, then 3, 256 and steps of lines
//   Output    r2
//   Blocks    r3
//   Function  r9
//   Lines     r11
//   q0-q2     inputs and weights, then the sums over the outputs of the step before and a line; q3 the sums over inputs
//
// Layout of the table, for each 4 rows: 4 starts, int32; for each 16 inputs, 16 int8 weights of each row; both again for
// the outputs of the step before. The output has the numbers of a gate side by side.
//
// Cost: 10 instructions for 16 inputs and 4 rows, 64 products, of which 9 are vector instructions, 36 beats; for each block
// 46 more with a sigmoid, 51 with tanh, 37 with sums apart.
//
// Bounds: reads [inputs, inputs_end) and [hidden, hidden_end), multiples of 16 bytes that are not empty and that its
// caller has laid out in scratch memory; for each of `blocks` blocks 32 bytes of the table and 64 for each sixteen of these
// inputs, which is all of it: init() compares block_words and blocks. Writes a number of four units a block, which is why
// scratch memory has room for whole blocks. The tables of lines have 512 entries: an argument of 16 bits, times 3, is
// within them, and that of tanh, twice as large, is limited. ReadsPast is 0.
  MULTIPLY_GATE cmsis_nn_delegate_multiply_gate_vectors, PRODUCTS, 4

// void cmsis_nn_delegate_multiply_nibble_gate_vectors(
//     const GateRows* gate)   r0
//
// The same with weights of 4 bits, from -7 to 7: for each 16 inputs 16 bytes of two rows, and as many of the two others, each
// the weight of the first plus 16 times that of the second, whose starts are joined likewise. A block has 32 bytes less for
// each sixteen inputs, and takes 4 instructions more.
  MULTIPLY_GATE cmsis_nn_delegate_multiply_nibble_gate_vectors, PRODUCTS_NIBBLES, 4, SEPARATE

// void cmsis_nn_delegate_multiply_gate_vectors_int16(
//     const GateRows* gate)   r0
//
// The same for inputs and outputs of int16: each sixteen of them are 32 bytes, and take 19 instructions with 4 rows, of
// which 18 are vector instructions, 72 beats.
  MULTIPLY_GATE cmsis_nn_delegate_multiply_gate_vectors_int16, PRODUCTS_INT16, 5

// void cmsis_nn_delegate_multiply_nibble_gate_vectors_int16(
//     const GateRows* gate)   r0
//
// Both: as many instructions for sixteen inputs of int16 as with weights of 8 bits, and 4 more for a block.
  MULTIPLY_GATE cmsis_nn_delegate_multiply_nibble_gate_vectors_int16, PRODUCTS_NIBBLES_INT16, 5, SEPARATE

// void cmsis_nn_delegate_copy_row(
//     const int8_t* from,   r0
//     int32_t bytes,        r1
//     int8_t* to)           r2
//
// Register usage: q0 sixteen bytes.
//
// Cost: 3 instructions for 16 bytes, of which 2 are vector instructions, 8 beats.
//
// Bounds: reads and writes `bytes` bytes, at least 1; the loop predicates the lanes after them. ReadsPast is 0.
  FUNCTION cmsis_nn_delegate_copy_row
  push {r7, lr}
  dlstp.8 lr, r1
1:
  vldrb.8 q0, [r0], #16
  vstrb.8 q0, [r2], #16
  letp lr, 1b
  pop {r7, pc}
  .size cmsis_nn_delegate_copy_row, .-cmsis_nn_delegate_copy_row

#endif
