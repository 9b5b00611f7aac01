// The loops over windows and pixels of the assembly of pooling for MVE.
#pragma once

#include "runtime/kernels/common/pooled_windows_members.h"

#ifdef __ASSEMBLER__
// clang-format off
  .syntax unified
  .thumb

// The body of a function
//
// void pool(
//     const PooledWindows* windows,   r0
//     int32_t first)                  r1
//
// which computes some channels of all windows, from the one that lies `first` bytes behind the beginning of a pixel
// on. \once prepares all of them, and finds in r0 the bytes of a pixel from there on; \start prepares a window, \take
// takes the pixel at r0, and \give stores the result at r5. They may change all vectors, \once also r9
// and r12, and \give r0 and r12.
//
// Register usage: r0 pixel, r1 bytes of a pixel, r2 columns or the step to the next row, r3 rows, r4 window, r5 its
// result, r6 windows left, r7 step to the next window, r8 row gap, r9 of \once, r10 windows, r11 rows of windows
// left, r12 rows left, lr columns left, or rows.
//
// Cost: beside the macros, 6 instructions for a window, 4 for each of its rows and 2 for each pixel, or of windows of
// two columns 6, 1 and 1; 6 for a row of windows.
.macro POOL_WINDOWS once, start, take, give
  NEIGHBOURS POOLED_INPUT, POOLED_OUTPUT
  NEIGHBOURS POOLED_INPUT_NEXT, POOLED_OUTPUT_NEXT
  NEIGHBOURS POOLED_STEP, POOLED_ROWS
  NEIGHBOURS POOLED_COLUMNS, POOLED_ROW_GAP
  push {r3-r11, lr}
  vpush {d8-d15}
  mov r10, r0
  ldrd r4, r5, [r10, #POOLED_INPUT]
  ldr r11, [r10, #POOLED_DOWN]
  add r4, r1
  add r5, r1
  ldr r0, [r10, #POOLED_PIXEL]
  sub r0, r0, r1
  ldr r1, [r10, #POOLED_PIXEL]
  ldrd r7, r3, [r10, #POOLED_STEP]
  ldrd r2, r8, [r10, #POOLED_COLUMNS]
  \once
  cmp r2, #2
  beq 5f
1:  // a row of windows
  ldr r6, [r10, #POOLED_ACROSS]
2:  // a window
  \start
  mov r0, r4
  add r4, r7
  mov r12, r3
3:
  dls lr, r2
4:
  \take
  add r0, r1
  le lr, 4b
  add r0, r8
  subs r12, #1
  bne 3b
  \give
  add r5, r1
  subs r6, #1
  bne 2b
  POOL_NEXT_ROW
  bne 1b
  vpop {d8-d15}
  pop {r3-r11, pc}

5:
  add r2, r1, r8
6:  // a row of windows of two columns
  ldr r6, [r10, #POOLED_ACROSS]
7:
  \start
  mov r0, r4
  add r4, r7
  dls lr, r3
8:
  \take
  add r0, r1
  \take
  add r0, r2
  le lr, 8b
  \give
  add r5, r1
  subs r6, #1
  bne 7b
  POOL_NEXT_ROW
  bne 6b
  vpop {d8-d15}
  pop {r3-r11, pc}
.endm

.macro POOL_NEXT_ROW
  ldrd r6, r12, [r10, #POOLED_INPUT_NEXT]
  add r4, r6
  add r5, r12
  subs r11, #1
.endm
// clang-format on

#endif
