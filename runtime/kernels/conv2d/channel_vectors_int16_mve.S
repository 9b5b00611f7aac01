// The inner loops of runtime/kernels/conv2d/channel_vectors_int16.h for MVE.
//
// Two outputs of eight channels at a time: inputs and weights are widened to 32 bits where they are loaded, four channels
// in a vector. VMULLB and VMULLT, which would multiply eight and widen, take 7 instructions less for a row of three taps,
// but Renode 1.16.1 computes other products than QEMU.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/channel_scales_mve.h"
#include "runtime/kernels/conv2d/channel_vectors_int16_members.h"

  .syntax unified
  .thumb

// Offsets in what the function keeps on the stack.
#define ROW 0             // the ChannelVectorRowInt16
#define TAPS 4            // the code for its taps
#define REQUANTIZE 8      // and for its form
#define OUTPUTS_LEFT 12
#define CHANNELS_LEFT 16  // behind the next eight; less than 0 in the last ones
#define LOCALS 20

// Registers of the macros below: see "Register usage".

.macro WEIGHTS from:vararg
  vldrb.s32 q4, \from
.endm
// Adds the products of four channels of the first output with the inputs at `from`, or else with those in q5.
.macro FIRST sums, from:vararg
  .ifnb \from
  vldrh.s32 q5, \from
  .endif
  vmul.i32 q6, q5, q4
  vadd.i32 \sums, \sums, q6
.endm
// The same of the second output.
.macro SECOND sums, from:vararg
  .ifnb \from
  vldrh.s32 q5, \from
  .endif
  vmul.i32 q7, q5, q4
  vadd.i32 \sums, \sums, q7
.endm
// The next row of taps.
.macro NEXT_ROW
  add r0, r0, r10
  cmp r0, r7
  it hs
  subhs r0, r0, r8
.endm

// void cmsis_nn_delegate_channel_vectors_int16(
//     const ChannelVectorRowInt16* row)   r0
//
// Register usage
//   Inputs    r12 the first window, r0 a row of it; r1 r2 r3 other columns of both windows in that row
//   Steps     r9 to the next column of taps, r10 to the next row, r11 to the second window
//   Rows      r7 behind the last one, r8 bytes of all
//   Table     r4
//   Outputs   r6 first, r5 second
//   lr rows left, or columns
//   Sums      q0 q1 channels 0 to 3 and 4 to 7 of the first output, q2 q3 of the second
//   q4 weights, q5 inputs, q6 q7 products
//   Multipliers and shifts, and then limits, take q4 q5 afterwards.
//
// Layout of the table, for each 8 channels: 8 biases, int32; 8 weights of each tap; 4 multipliers, 4 shifts, 4
// multipliers, 4 shifts, int32.
//
// Cost, for 8 channels of two outputs with form LEAST: 41 instructions and for each row of three taps 46, of which 38 are
// vector instructions, if the windows lie as far apart as the taps, or else 52, 42 of them vector instructions; for each
// row of another number of taps 11, and 17 for each of its taps. Form ANY takes 11 more.
//
// Bounds: reads 16 bytes of each tap of both windows: rows are those of an even number of outputs, in scratch memory, see
// channel_columns(). The last 8 channels begin earlier where the channels are no multiple of 8, so that nothing behind a
// pixel is read for the last block, or written. There are channels / 8 blocks in the table, rounded up: init() compares
// block_words and blocks, so ReadsPast is 0. A single last output is computed twice: r5 stays at r6, and the second one,
// of columns beyond, is overwritten by the first.
  .section .text.cmsis_nn_delegate_channel_vectors_int16, "ax", %progbits
  .global cmsis_nn_delegate_channel_vectors_int16
  .type cmsis_nn_delegate_channel_vectors_int16, %function
  .thumb_func
  .balign 8
cmsis_nn_delegate_channel_vectors_int16:
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  NEIGHBOURS CHANNEL_VECTOR_ROW_INT16_WINDOW_BYTES, CHANNEL_VECTOR_ROW_INT16_COLUMN_BYTES, \
             CHANNEL_VECTOR_ROW_INT16_ROW_BYTES
  ldr r11, [r0, #CHANNEL_VECTOR_ROW_INT16_WINDOW_BYTES]
  ldrd r9, r10, [r0, #CHANNEL_VECTOR_ROW_INT16_COLUMN_BYTES]
  ldr r1, [r0, #CHANNEL_VECTOR_ROW_INT16_TAPS_WIDE]
  adr.w r2, .Lany_taps
  cmp r1, #3
  bne 2f
  adr.w r2, .Lapart
  cmp r9, r11
  bne 2f
  adr.w r2, .Lshared
2:
  adr.w r3, .Lany
  ldr r1, [r0, #CHANNEL_VECTOR_ROW_INT16_FORM]
  cbz r1, 3f
  adr.w r3, .Lleast
3:
  orr r2, r2, #1
  orr r3, r3, #1
  strd r2, r3, [sp, #TAPS]
  ldr r1, [r0, #CHANNEL_VECTOR_ROW_INT16_OUTPUTS]
  str r0, [sp, #ROW]
  str r1, [sp, #OUTPUTS_LEFT]
  NEIGHBOURS CHANNEL_VECTOR_ROW_INT16_ROWS, CHANNEL_VECTOR_ROW_INT16_END
  ldrd r12, r7, [r0, #CHANNEL_VECTOR_ROW_INT16_ROWS]
  ldr r8, [r0, #CHANNEL_VECTOR_ROW_INT16_RING_BYTES]
  ldr r6, [r0, #CHANNEL_VECTOR_ROW_INT16_OUTPUT]

.Loutputs:  // two, or the last one twice; r0 is ROW, r1 are left
  ldr r2, [r0, #CHANNEL_VECTOR_ROW_INT16_CHANNELS]
  ldr r4, [r0, #CHANNEL_VECTOR_ROW_INT16_TABLE]
  mov r5, r6
  cmp r1, #1
  it gt
  addgt r5, r6, r2, lsl #1
  sub r2, r2, #8
  str r2, [sp, #CHANNELS_LEFT]
.Lblock:  // eight channels
  ldr r1, [sp, #ROW]
  vldrw.32 q0, [r4], #16
  vldrw.32 q1, [r4], #16
  vmov q2, q0
  vmov q3, q1
  mov r0, r12
  ldr lr, [r1, #CHANNEL_VECTOR_ROW_INT16_TAPS_HIGH]
  ldr pc, [sp, #TAPS]

.Lshared:  // three columns, of which two are those of the second window too
  dls lr, lr
4:
  add r1, r0, r9
  add r2, r1, r9
  add r3, r2, r9
  WEIGHTS [r4, #4]
  FIRST q1, [r0, #8]
  SECOND q3, [r1, #8]
  WEIGHTS [r4, #12]
  FIRST q1
  SECOND q3, [r2, #8]
  WEIGHTS [r4, #20]
  FIRST q1
  SECOND q3, [r3, #8]
  WEIGHTS [r4, #16]
  SECOND q2, [r3]
  FIRST q0, [r2]
  WEIGHTS [r4, #8]
  SECOND q2
  FIRST q0, [r1]
  WEIGHTS [r4], #24
  SECOND q2
  FIRST q0, [r0]
  NEXT_ROW
  le lr, 4b
  ldr pc, [sp, #REQUANTIZE]

.Lapart:  // three columns
  dls lr, lr
5:
  add r1, r0, r11
  add r2, r0, r9
  add r3, r1, r9
  WEIGHTS [r4, #4]
  FIRST q1, [r0, #8]
  SECOND q3, [r1, #8]
  WEIGHTS [r4, #12]
  FIRST q1, [r2, #8]
  SECOND q3, [r3, #8]
  WEIGHTS [r4, #8]
  FIRST q0, [r2]
  SECOND q2, [r3]
  add r2, r2, r9
  add r3, r3, r9
  WEIGHTS [r4, #20]
  FIRST q1, [r2, #8]
  SECOND q3, [r3, #8]
  WEIGHTS [r4, #16]
  FIRST q0, [r2]
  SECOND q2, [r3]
  WEIGHTS [r4], #24
  FIRST q0, [r0]
  SECOND q2, [r1]
  NEXT_ROW
  le lr, 5b
  ldr pc, [sp, #REQUANTIZE]

.Lany_taps:
  mov r3, lr  // rows left
6:
  ldr r1, [sp, #ROW]
  ldr lr, [r1, #CHANNEL_VECTOR_ROW_INT16_TAPS_WIDE]
  mov r1, r0
  add r2, r0, r11
  dls lr, lr
7:
  WEIGHTS [r4, #4]
  FIRST q1, [r1, #8]
  SECOND q3, [r2, #8]
  WEIGHTS [r4], #8
  FIRST q0, [r1]
  SECOND q2, [r2]
  add r1, r1, r9
  add r2, r2, r9
  le lr, 7b
  NEXT_ROW
  subs r3, r3, #1
  bne 6b
  ldr pc, [sp, #REQUANTIZE]

.Lleast:
  SCALE q0, q2
  SCALE q1, q3
  vmov.i32 q4, #0
  vmov.i32 q5, #0x7fff
.Lstore:  // the second output first: it may be the first one
  vmax.s32 q2, q2, q4
  vmax.s32 q3, q3, q4
  vmin.s32 q2, q2, q5
  vmin.s32 q3, q3, q5
  vmax.s32 q0, q0, q4
  vmax.s32 q1, q1, q4
  vmin.s32 q0, q0, q5
  vmin.s32 q1, q1, q5
  vstrh.32 q2, [r5], #8
  vstrh.32 q3, [r5], #8
  vstrh.32 q0, [r6], #8
  vstrh.32 q1, [r6], #8
  add r12, r12, #16
  ldr r1, [sp, #CHANNELS_LEFT]
  subs r1, r1, #8
  str r1, [sp, #CHANNELS_LEFT]
  bpl .Lblock
  cmn r1, #8
  beq 8f
  add r12, r12, r1, lsl #1
  add r5, r5, r1, lsl #1
  add r6, r6, r1, lsl #1
  mov r1, #0
  str r1, [sp, #CHANNELS_LEFT]
  b .Lblock
8:
  ldr r1, [sp, #OUTPUTS_LEFT]
  subs r1, r1, #2
  ble 9f
  str r1, [sp, #OUTPUTS_LEFT]
  ldr r0, [sp, #ROW]
  ldr r2, [r0, #CHANNEL_VECTOR_ROW_INT16_CHANNELS]
  sub r12, r12, r2, lsl #1
  add r12, r12, r11, lsl #1
  mov r6, r5
  b .Loutputs
9:
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}

.Lany:
  SCALE_AWAY q0, q2
  SCALE_AWAY q1, q3
  ldr r1, [sp, #ROW]
  NEIGHBOURS CHANNEL_VECTOR_ROW_INT16_LEAST, CHANNEL_VECTOR_ROW_INT16_MOST
  ldrd r2, r3, [r1, #CHANNEL_VECTOR_ROW_INT16_LEAST]
  vdup.32 q4, r2
  vdup.32 q5, r3
  b .Lstore
  .size cmsis_nn_delegate_channel_vectors_int16, .-cmsis_nn_delegate_channel_vectors_int16

#endif
