// The inner loops of runtime/kernels/common/channel_windows.h for int8, with MVE.
//
// Two outputs of eight channels at a time, and two neighbouring taps of a row, whose products are added in 16 bits before
// they are widened; of an odd number of them the first one stands alone.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/channel_windows_loops_mve.h"
#include "runtime/kernels/depthwise_conv2d/vector_results_mve.h"
#include "runtime/kernels/depthwise_conv2d/vector_taps_mve.h"

  .syntax unified
  .thumb

.macro CHOOSE
  adr.w r2, .Lapart
  cmp r9, r11
  bne 2f
  adr.w r2, .Lshared
2:
.endm

// A row of taps of both windows: r1 is a column of the first one, r2 is left to `pair`, r3 rows left. `columns` prepares
// r2 for `single`.
.macro ROW_OF_TAPS columns, single, pair
  mov r3, lr
4:
  ldr r1, [sp, #ROW]
  ldr lr, [r1, #CHANNEL_WINDOWS_TAPS_WIDE]
  mov r1, r0
  \columns
  lsrs lr, lr, #1
  bcc 5f
  \single
  WIDEN
5:
  cmp lr, #0
  beq 7f
  dls lr, lr
6:
  \pair
  WIDEN
  le lr, 6b
7:
  NEXT_ROW
  subs r3, r3, #1
  bne 4b
  ldr pc, [sp, #REQUANTIZE]
.endm

// The second window begins where the first one has its next column.
.macro NO_COLUMNS
.endm
.macro SINGLE_SHARED
  add r2, r1, r9
  FIRST "[r1]", "[r2]"
  mov r1, r2
.endm
.macro PAIR_SHARED
  add r2, r1, r9
  FIRST "[r1]", "[r2]"
  add r1, r2, r9
  SECOND , "[r1]"
.endm

.macro COLUMNS_APART
  add r2, r0, r11
.endm
.macro SINGLE_APART
  FIRST "[r1]", "[r2]"
  add r1, r1, r9
  add r2, r2, r9
.endm
.macro PAIR_APART
  SINGLE_APART
  SECOND "[r1]", "[r2]"
  add r1, r1, r9
  add r2, r2, r9
.endm

.macro PRODUCTS
.Lshared:
  LANDING_PAD
  ROW_OF_TAPS NO_COLUMNS, SINGLE_SHARED, PAIR_SHARED
.Lapart:
  LANDING_PAD
  ROW_OF_TAPS COLUMNS_APART, SINGLE_APART, PAIR_APART
.endm

.macro ZERO_POINT
  ldr r1, [sp, #ROW]
  ldr r1, [r1, #CHANNEL_WINDOWS_ZERO_POINT]
.endm
.macro LEAST
  ZERO_POINT
  NARROW r1
  vqmovnb.s16 q0, q0
  vqmovnb.s16 q2, q2
.endm
.macro ANY
  vdup.16 q4, r2
  vdup.16 q5, r3
  ZERO_POINT
  NARROW r1
  vmax.s16 q0, q0, q4
  vmax.s16 q2, q2, q4
  vmin.s16 q0, q0, q5
  vmin.s16 q2, q2, q5
.endm
.macro STORE
  vstrb.16 q2, [r5], #8
  vstrb.16 q0, [r6], #8
.endm

// void cmsis_nn_delegate_channel_windows(
//     const ChannelWindowsOf<int8_t>* row)   r0
//
// Register usage and bounds: see channel_windows_loops_mve.h and vector_taps_mve.h. Multipliers and shifts, and then limits,
// take q4 q5 afterwards.
//
// Layout of the table, for each 8 channels: 4 starts of the even channels, 4 of the odd ones, int32; 8 weights of each tap;
// multipliers and shifts of the even channels, of the odd ones, 4 x int32 each.
//
// Cost, for 8 channels of two outputs with form LEAST: 41 instructions, for each row of taps 14, for each two taps of it 22
// if the windows lie as far apart as the taps, or else 25, and for an odd one 15. Form ANY takes 13 more.
//
// Two products fit into 16 bits: the compiler gives no call in which |w| + |w'| of such taps exceeds 255.
  CHANNEL_WINDOWS cmsis_nn_delegate_channel_windows, 0, CHOOSE, PRODUCTS, LEAST, ANY, STORE

#endif
