// The loop over outputs and blocks of channels of channel_vectors_mve.S and channel_nibble_vectors_mve.S.
//
// Register usage
//   Inputs    r0 r1 r2 rows, r3 r5 r6 r7 columns 1 to 4 of one of them
//   Table     r4
//   Channels  r8
//   Outputs   r10 first, r9 second
//   r11 the code for the form, r12 zero point, lr blocks left
//   Sums      q0 q1 even and odd channels of the first output, q2 q3 of the second, before they are narrowed
//   The flags say whether the stride is 1 as long as blocks last.
//
// Bounds: reads 8 bytes in each of 4 columns of the three rows, or 5 with stride 2, and channels * columns bytes of a row
// in all: rows are those of an even number of outputs, in scratch memory, see channel_columns(). The last 8 channels
// begin BACK bytes earlier where the channels are no multiple of 8, so that nothing behind a pixel is read for the last
// block, or written. There are channels / 8 blocks in the table, rounded up: init() compares block_words and blocks, so
// ReadsPast is 0. A single last output is computed twice: r9 stays at r10, and the second one, of columns beyond, is
// overwritten by the first.
#pragma once

#include "runtime/kernels/depthwise_conv2d/channel_vectors_members.h"
#include "runtime/kernels/depthwise_conv2d/vector_results_mve.h"

#ifdef __ASSEMBLER__
// clang-format off

// Offsets in what the function keeps on the stack.
#define ROW 0        // the ChannelVectorRow
#define BLOCKS_TABLE 4
#define LEFT 8       // outputs
#define BLOCKS 12    // of eight channels
#define BACK 16      // channels that the last eight share with the eight before, or 0
#define BACK_LEFT 20 // 0 once the last eight have been computed
#define STEP 24      // from the end of the channels of two outputs to the inputs of the next two
#define LOCALS 28

.macro COLUMNS row, stride
  add r3, \row, r8
  add r5, \row, r8, lsl #1
  add r6, r5, r8
  .if \stride == 2
  add r7, \row, r8, lsl #2
  .endif
.endm

// Defines `name`. `start` prepares sums, `taps` has the products of a window, dense or strided, and `scale` and `scale_away`
// requantize the sums in q0 to q3, of form LEAST and of form ANY.
.macro CHANNEL_VECTORS name, start, taps, scale, scale_away
  FUNCTION \name
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  ldr r4, [r0, #CHANNEL_VECTOR_ROW_TABLE]
  strd r0, r4, [sp, #ROW]
  ldr r1, [r0, #CHANNEL_VECTOR_ROW_FORM]
  adr.w r11, .Laway\@
  cbz r1, 1f
  adr.w r11, .Lleast\@
1:
  orr r11, r11, #1
  NEIGHBOURS CHANNEL_VECTOR_ROW_CHANNELS, CHANNEL_VECTOR_ROW_OUTPUTS
  ldrd r8, r3, [r0, #CHANNEL_VECTOR_ROW_CHANNELS]
  NEIGHBOURS CHANNEL_VECTOR_ROW_STRIDE, CHANNEL_VECTOR_ROW_ZERO_POINT
  ldrd r6, r12, [r0, #CHANNEL_VECTOR_ROW_STRIDE]
  ldr r10, [r0, #CHANNEL_VECTOR_ROW_OUTPUT]
  lsr r4, r8, #3
  strd r3, r4, [sp, #LEFT]
  ands r5, r8, #7
  it ne
  rsbne r5, r5, #8
  strd r5, r5, [sp, #BACK]
  mov r5, r8
  cmp r6, #1
  it ne
  addne r5, r8, r8, lsl #1
  str r5, [sp, #STEP]
  .if CHANNEL_VECTOR_ROW_ROWS
  .error "rows are loaded from the beginning of the struct"
  .endif
  ldm r0, {r0-r2}
  mov r9, r10

.Loutputs\@:  // two, or the last one twice; r3 are left, r5 is STEP
  cmp r3, #1
  it gt
  addgt r9, r10, r8
  ldr r4, [sp, #BLOCKS_TABLE]
  ldr lr, [sp, #BLOCKS]
  cmp r5, r8  // equal in all blocks if the stride is 1: nothing below sets flags
  dls lr, lr
.Lblock\@:  // eight channels
  \start
  bne .Lstrided\@
  \taps dense
  bx r11
.Lstrided\@:
  \taps strided
  bx r11

.Lleast\@:
  LANDING_PAD
  \scale
  NARROW r12
  vqmovnb.s16 q0, q0
  vqmovnb.s16 q2, q2
.Lstore\@:  // the second output first: it may be the first one
  mov r3, r9
  mov r5, r10
  vstrb.16 q2, [r3]
  vstrb.16 q0, [r5]
  add r9, r9, #8
  add r10, r10, #8
  le lr, .Lblock\@
  ldr r3, [sp, #BACK_LEFT]
  cbz r3, 4f
  mov r5, #0
  str r5, [sp, #BACK_LEFT]
  sub r0, r0, r3
  sub r1, r1, r3
  sub r2, r2, r3
  sub r9, r9, r3
  sub r10, r10, r3
  mov lr, #1
  b .Lblock\@
4:
  ldr r3, [sp, #LEFT]
  ldr r6, [sp, #BACK]
  subs r3, r3, #2
  ble 6f
  str r3, [sp, #LEFT]
  str r6, [sp, #BACK_LEFT]
  ldr r5, [sp, #STEP]
  add r0, r0, r5
  add r1, r1, r5
  add r2, r2, r5
  mov r10, r9
  b .Loutputs\@
6:
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}

.Laway\@:
  LANDING_PAD
  \scale_away
  NARROW r12
  ldr r3, [sp, #ROW]
  NEIGHBOURS CHANNEL_VECTOR_ROW_LEAST, CHANNEL_VECTOR_ROW_MOST
  ldrd r5, r6, [r3, #CHANNEL_VECTOR_ROW_LEAST]
  vdup.16 q4, r5
  vdup.16 q5, r6
  vmax.s16 q0, q0, q4
  vmax.s16 q2, q2, q4
  vmin.s16 q0, q0, q5
  vmin.s16 q2, q2, q5
  b .Lstore\@
  .size \name, .-\name
.endm

// clang-format on
#endif
