// The loop over outputs and blocks of channels of channel_windows_mve.S and channel_vectors_int16_mve.S.
//
// Register usage
//   Inputs    r12 the first window, r0 a row of it; r1 r2 r3 for columns of windows in that row
//   Steps     r9 to the next column of taps, r10 to the next row, r11 to the second window
//   Rows      r7 behind the last one, r8 bytes of all
//   Table     r4
//   Outputs   r6 first, r5 second
//   lr rows left, or columns
//   Sums      q0 q1 the first and the second four channels of the first output, q2 q3 of the second
//
// Bounds: reads 8 inputs of each tap of both windows: rows are those of an even number of outputs, in scratch memory, see
// channel_columns(). The last 8 channels begin earlier where the channels are no multiple of 8, so that nothing behind a
// pixel is read for the last block, or written. There are channels / 8 blocks in the table, rounded up: init() compares
// block_words and blocks, so ReadsPast is 0. A single last output is computed twice: r5 stays at r6, and the second one,
// of columns beyond, is overwritten by the first.
#pragma once

#include "runtime/kernels/common/channel_scales_mve.h"
#include "runtime/kernels/common/channel_windows_members.h"

#ifdef __ASSEMBLER__
// clang-format off

// Offsets in what the function keeps on the stack.
#define ROW 0             // the ChannelWindowsOf
#define TAPS 4            // the code for its taps
#define REQUANTIZE 8      // and for its form
#define OUTPUTS_LEFT 12
#define CHANNELS_LEFT 16  // behind the next eight; less than 0 in the last ones
#define LOCALS 20

// The next row of taps.
.macro NEXT_ROW
  add r0, r0, r10
  cmp r0, r7
  it hs
  subhs r0, r0, r8
.endm

// Defines `name`, of elements of 2^log bytes. `choose` leaves the code for the taps in r2, from the row at r0 and the steps;
// `taps` has that code, which begins with the rows of taps in lr and goes on at REQUANTIZE. `least` and `any` have what
// follows the multiplications of their forms, up to `store`, which stores the second output first: it may be the first one.
.macro CHANNEL_WINDOWS name, log, choose, taps, least, any, store
  FUNCTION \name
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  NEIGHBOURS CHANNEL_WINDOWS_WINDOW_BYTES, CHANNEL_WINDOWS_COLUMN_BYTES, CHANNEL_WINDOWS_ROW_BYTES
  ldr r11, [r0, #CHANNEL_WINDOWS_WINDOW_BYTES]
  ldrd r9, r10, [r0, #CHANNEL_WINDOWS_COLUMN_BYTES]
  \choose
  adr.w r3, .Lany
  ldr r1, [r0, #CHANNEL_WINDOWS_FORM]
  cbz r1, 3f
  adr.w r3, .Lleast
3:
  orr r2, r2, #1
  orr r3, r3, #1
  strd r2, r3, [sp, #TAPS]
  ldr r1, [r0, #CHANNEL_WINDOWS_OUTPUTS]
  str r0, [sp, #ROW]
  str r1, [sp, #OUTPUTS_LEFT]
  NEIGHBOURS CHANNEL_WINDOWS_ROWS, CHANNEL_WINDOWS_END
  ldrd r12, r7, [r0, #CHANNEL_WINDOWS_ROWS]
  ldr r8, [r0, #CHANNEL_WINDOWS_RING_BYTES]
  ldr r6, [r0, #CHANNEL_WINDOWS_OUTPUT]

.Loutputs:  // two, or the last one twice; r0 is ROW, r1 are left
  ldr r2, [r0, #CHANNEL_WINDOWS_CHANNELS]
  ldr r4, [r0, #CHANNEL_WINDOWS_TABLE]
  mov r5, r6
  cmp r1, #1
  it gt
  addgt r5, r6, r2, lsl #\log
  sub r2, r2, #8
  str r2, [sp, #CHANNELS_LEFT]
.Lblock:  // eight channels
  ldr r1, [sp, #ROW]
  vldrw.32 q0, [r4], #16
  vldrw.32 q1, [r4], #16
  vmov q2, q0
  vmov q3, q1
  mov r0, r12
  ldr lr, [r1, #CHANNEL_WINDOWS_TAPS_HIGH]
  ldr pc, [sp, #TAPS]

  \taps

.Lleast:
  LANDING_PAD
  SCALE q0, q2
  SCALE q1, q3
  \least
.Lstore:
  \store
  add r12, r12, #8 << \log
  ldr r1, [sp, #CHANNELS_LEFT]
  subs r1, r1, #8
  str r1, [sp, #CHANNELS_LEFT]
  bpl .Lblock
  cmn r1, #8
  beq 8f
  add r12, r12, r1, lsl #\log
  add r5, r5, r1, lsl #\log
  add r6, r6, r1, lsl #\log
  mov r1, #0
  str r1, [sp, #CHANNELS_LEFT]
  b .Lblock
8:
  ldr r1, [sp, #OUTPUTS_LEFT]
  subs r1, r1, #2
  ble 9f
  str r1, [sp, #OUTPUTS_LEFT]
  ldr r0, [sp, #ROW]
  ldr r2, [r0, #CHANNEL_WINDOWS_CHANNELS]
  sub r12, r12, r2, lsl #\log
  add r12, r12, r11, lsl #1
  mov r6, r5
  b .Loutputs
9:
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}

.Lany:
  LANDING_PAD
  SCALE_AWAY q0, q2
  SCALE_AWAY q1, q3
  ldr r1, [sp, #ROW]
  NEIGHBOURS CHANNEL_WINDOWS_LEAST, CHANNEL_WINDOWS_MOST
  ldrd r2, r3, [r1, #CHANNEL_WINDOWS_LEAST]
  \any
  b .Lstore
  .size \name, .-\name
.endm

// clang-format on
#endif
