// The inner loops of runtime/kernels/depthwise_conv2d/channel_vectors.h for MVE.
//
// Two outputs of eight channels at a time: products of int8 in lanes of 16 bits, two of which fit there; then they are
// widened and added to sums, of the even channels (q0, second output q2) and of the odd ones (q1, q3).
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/channel_scales_mve.h"
#include "runtime/kernels/depthwise_conv2d/channel_vectors_loops_mve.h"
#include "runtime/kernels/depthwise_conv2d/vector_taps_mve.h"

  .syntax unified
  .thumb

// Registers of the macros below: see "Register usage".

.macro START
  vldrw.32 q0, [r4], #16
  vldrw.32 q1, [r4], #16
  vmov q2, q0
  vmov q3, q1
.endm
.macro TAPS_dense
  COLUMNS r0, 1
  FIRST "[r0], #8", "[r3]"
  SECOND , "[r5]"
  WIDEN
  FIRST "[r5]", "[r6]"
  COLUMNS r1, 1
  SECOND "[r1], #8", "[r3]"
  WIDEN
  FIRST "[r3]", "[r5]"
  SECOND , "[r6]"
  WIDEN
  COLUMNS r2, 1
  FIRST "[r2], #8", "[r3]"
  SECOND , "[r5]"
  WIDEN
  FIRST "[r5]", "[r6]"
  WIDEN
.endm
.macro TAPS_strided
  COLUMNS r0, 2
  FIRST "[r0], #8", "[r5]"
  SECOND "[r3]", "[r6]"
  WIDEN
  FIRST "[r5]", "[r7]"
  COLUMNS r1, 2
  SECOND "[r1], #8", "[r5]"
  WIDEN
  FIRST "[r3]", "[r6]"
  SECOND "[r5]", "[r7]"
  WIDEN
  COLUMNS r2, 2
  FIRST "[r2], #8", "[r5]"
  SECOND "[r3]", "[r6]"
  WIDEN
  FIRST "[r5]", "[r7]"
  WIDEN
.endm
.macro TAPS steps
  TAPS_\steps
.endm

.macro SCALES
  SCALE q0, q2
  SCALE q1, q3
.endm
.macro SCALES_AWAY
  SCALE_AWAY q0, q2
  SCALE_AWAY q1, q3
.endm

// void cmsis_nn_delegate_channel_vectors(
//     const ChannelVectorRow* row)   r0
//
// Register usage: see channel_vectors_loops_mve.h; q4 weights, q5 q6 sums of two products of both outputs in 16 bits, q7
// inputs and products. Multipliers and shifts take q4 q5 afterwards.
//
// Layout of the table, for each 8 channels, 168 bytes: 4 starts of the even channels, 4 of the odd ones, int32; 9 x 8
// weights, by tap; multipliers and shifts of the even channels, of the odd ones, 4 x int32 each.
//
// Cost, for 8 channels of two outputs, 144 products: 132 instructions with stride 1 and form LEAST, 116 of them vector
// instructions, 464 beats; with stride 2, 138 and 119, 476 beats. Form ANY takes 15 more, 12 of them vector instructions.
//
// Two products fit into 16 bits: the compiler gives no call in which |w| + |w'| of such taps exceeds 255.
  CHANNEL_VECTORS cmsis_nn_delegate_channel_vectors, START, TAPS, SCALES, SCALES_AWAY

#endif
