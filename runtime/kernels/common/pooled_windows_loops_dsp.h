// The loops over windows and pixels of the assembly of pooling for Armv7E-M and Armv8-M with DSP.
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
// on. \start prepares a window, \take takes the pixel at r0, and \give stores the result at r12. They may change
// r4-r9, and \give also r0, r2 and r3.
//
// Register usage: r0 pixel, r1 bytes of a pixel, r2 columns left or the step to the next row, r3 rows left, r10
// windows, r11 window, r12 its result, lr windows left; rows of windows left lie on the stack.
//
// Cost: beside the macros, 7 instructions for a window, 5 for each of its rows and 3 for each pixel, or of windows of
// two columns 8, 2 and 1; 8 for a row of windows.
.macro POOL_WINDOWS start, take, give
  NEIGHBOURS POOLED_INPUT, POOLED_OUTPUT
  NEIGHBOURS POOLED_INPUT_NEXT, POOLED_OUTPUT_NEXT
  push {r3-r11, lr}
  mov r10, r0
  ldrd r11, r12, [r10, #POOLED_INPUT]
  add r11, r1
  add r12, r1
  ldr r2, [r10, #POOLED_DOWN]
  str r2, [sp]
  ldr r1, [r10, #POOLED_PIXEL]
  ldr r2, [r10, #POOLED_COLUMNS]
  cmp r2, #2
  beq 5f
1:  // a row of windows
  ldr lr, [r10, #POOLED_ACROSS]
2:  // a window
  \start
  mov r0, r11
  ldr r3, [r10, #POOLED_ROWS]
3:
  ldr r2, [r10, #POOLED_COLUMNS]
4:
  \take
  add r0, r1
  subs r2, #1
  bne 4b
  ldr r2, [r10, #POOLED_ROW_GAP]
  add r0, r2
  subs r3, #1
  bne 3b
  \give
  ldr r2, [r10, #POOLED_STEP]
  add r12, r1
  add r11, r2
  subs lr, #1
  bne 2b
  POOL_NEXT_ROW
  bne 1b
  pop {r3-r11, pc}

5:  // a row of windows of two columns
  ldr lr, [r10, #POOLED_ACROSS]
6:
  \start
  mov r0, r11
  ldr r2, [r10, #POOLED_NEXT_ROW]
  ldr r3, [r10, #POOLED_ROWS]
7:
  \take
  add r0, r1
  \take
  add r0, r2
  subs r3, #1
  bne 7b
  \give
  ldr r2, [r10, #POOLED_STEP]
  add r12, r1
  add r11, r2
  subs lr, #1
  bne 6b
  POOL_NEXT_ROW
  bne 5b
  pop {r3-r11, pc}
.endm

.macro POOL_NEXT_ROW
  ldrd r2, r3, [r10, #POOLED_INPUT_NEXT]
  add r11, r2
  add r12, r3
  ldr r2, [sp]
  subs r2, #1
  str r2, [sp]
.endm
// clang-format on

#endif
