// The inner loops of runtime/kernels/fully_connected_groups/group_vectors.h for MVE.
//
// A vector of inputs is loaded once for eight channels, whose sums are the eight even registers that VMLADAVA adds to.
// Those of each group go to scratch memory, from where VMLALDAVA multiplies those of four groups with their factors and
// adds them up in 64 bits.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/nibble_products_mve.h"
#include "runtime/kernels/fully_connected_groups/group_vectors_members.h"

  .syntax unified
  .thumb

// The frame: what is left of the GroupVectors, and its address.
#define OUTPUT 0
#define CHANNELS 4
#define ROW 8
#define LOCALS 16

// Multiplies the sums of an even channel, at `at` from the addresses in q7, and of the next one with factors of both,
// for four groups. The bytes of the first are 16 b + a + 8: 16 times the second sum and 8 times that of the inputs, q5,
// go.
.macro TWO_TOTALS at, low0, high0, low1, high1
  vldrw.32 q0, [q7, #\at]
  vldrw.32 q1, [q7, #\at + 4]
  vsub.i32 q0, q0, q5
  vshl.i32 q2, q1, #4
  vldrh.s32 q3, [r7], #8
  vsub.i32 q0, q0, q2
  vldrh.s32 q4, [r7], #8
  vmlaldava.s32 \low0, \high0, q0, q3
  vmlaldava.s32 \low1, \high1, q1, q4
.endm

// Totals and results of four channels, whose sums are at `at` from those of the block. r9 is the GroupVectors and r8
// its sums. The condition flags compare the channels that are left afterwards with 0.
.macro FOUR_RESULTS at
  ldr r0, [r9, #GROUP_VECTORS_START]
  vadd.i32 q7, q6, r8
  mov r1, #0
  mov r2, r0
  mov r3, r1
  mov r4, r0
  mov r5, r1
  mov r6, r0
  mov r11, r1
  ldr r10, [r9, #GROUP_VECTORS_EIGHTS]
  ldr r12, [r9, #GROUP_VECTORS_QUADS]
  dls lr, r12
  mov r12, #128
4:  // four groups
  vldrw.32 q5, [r10], #16
  TWO_TOTALS \at, r0, r1, r2, r3
  TWO_TOTALS \at + 8, r4, r5, r6, r11
  vadd.i32 q7, q7, r12
  le lr, 4b
  ldr r12, [r9, #GROUP_VECTORS_NARROWING]
  asrl r0, r1, r12
  asrl r2, r3, r12
  asrl r4, r5, r12
  asrl r6, r11, r12
  vmov q0[2], q0[0], r0, r4
  vmov q0[3], q0[1], r2, r6
  // Biases; then as SCALE_NIBBLES in row_vectors_mve.S.
  vldrw.32 q1, [r7], #16
  vldrb.s32 q2, [r7, #20]
  vadd.i32 q0, q0, q1
  vldrw.32 q1, [r7], #16
  vshl.s32 q0, q0, q2
  vldrb.s32 q2, [r7], #8
  vqrdmulh.s32 q0, q0, q1
  ldr r0, [r9, #GROUP_VECTORS_OFFSET]
  vand q1, q0, q2
  NEIGHBOURS GROUP_VECTORS_LEAST, GROUP_VECTORS_MOST
  ldrd r1, r2, [r9, #GROUP_VECTORS_LEAST]
  vshr.s32 q1, q1, #31
  NEIGHBOURS OUTPUT, CHANNELS
  ldrd r3, r12, [sp, #OUTPUT]
  vadd.i32 q0, q0, q1
  vdup.32 q3, r1
  vrshl.s32 q0, q0, q2
  vdup.32 q4, r2
  vadd.i32 q0, q0, r0
  vmax.s32 q0, q0, q3
  vmin.s32 q0, q0, q4
  vctp.32 r12
  vpst
  vstrbt.32 q0, [r3], #4
  subs r12, r12, #4
  strd r3, r12, [sp, #OUTPUT]
.endm

// void cmsis_nn_delegate_group_vectors(const GroupVectors* row)   r0
//
// Register usage
//   Inputs    r1, r3 vectors of the group left after this one
//   Table     r7
//   Sums      r0 r2 r4 r6 r8 r10 r12 lr, channel by channel; r5 where they go, r11 groups left
//   Totals    r0 r1, r2 r3, r4 r5, r6 r11
//   q0 q1 q3 weights, q2 inputs; then q0-q4 sums and factors, q5 8 times sums of inputs, q7 addresses of sums of four
//   groups, q6 their distances in bytes
//
// Cost, for 8 channels and a group of V vectors of inputs: 19 V + 3 instructions; 42 more for each four groups, and 95.
// For a row 3 V + 6 for each group.
//
// Bounds: reads `vectors` times `groups` vectors of inputs, both at least 1, and writes `channels` outputs. The table
// has weights and scales for whole blocks, but for the second half of the last one, which is not read if it has no
// channel; init() compares block_words and blocks, so ReadsPast is 0. Of sums and eights, those of groups that fill up
// the last four are read before anything has been written there, for factors of 0: scratch memory has room for them.
  FUNCTION cmsis_nn_delegate_group_vectors
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS + 4
  mov r9, r0
  NEIGHBOURS GROUP_VECTORS_OUTPUT, GROUP_VECTORS_CHANNELS
  ldrd r10, r12, [r9, #GROUP_VECTORS_OUTPUT]
  NEIGHBOURS OUTPUT, CHANNELS
  strd r10, r12, [sp, #OUTPUT]
  str r9, [sp, #ROW]
  NEIGHBOURS GROUP_VECTORS_INPUT, GROUP_VECTORS_TABLE
  ldrd r1, r7, [r9, #GROUP_VECTORS_INPUT]
  NEIGHBOURS GROUP_VECTORS_EIGHTS, GROUP_VECTORS_VECTORS, GROUP_VECTORS_GROUPS
  ldrd r5, r3, [r9, #GROUP_VECTORS_EIGHTS]
  ldr r11, [r9, #GROUP_VECTORS_GROUPS]
1:  // the sum of the inputs of a group
  mov r0, #0
  dls lr, r3
2:
  vldrb.8 q0, [r1], #16
  vaddva.s8 r0, q0
  le lr, 2b
  lsl r0, r0, #3
  str r0, [r5], #4
  subs r11, r11, #1
  bne 1b
  mov r0, #0
  vidup.u32 q6, r0, #8
  vshl.i32 q6, q6, #2  // 32 bytes of sums for each group

.Lgroup_vectors_block:  // eight channels; r9 is the GroupVectors
  ldr r1, [r9, #GROUP_VECTORS_INPUT]
  ldr r5, [r9, #GROUP_VECTORS_SUMS]
  NEIGHBOURS GROUP_VECTORS_VECTORS, GROUP_VECTORS_GROUPS
  ldrd r9, r11, [r9, #GROUP_VECTORS_VECTORS]
1:  // one group
  vldrb.8 q2, [r1], #16
  NIBBLE_PRODUCTS vldrb.8, 16, vmladav.s8, s8
  subs r3, r9, #1
  beq 3f
2:
  vldrb.8 q2, [r1], #16
  NIBBLE_PRODUCTS vldrb.8, 16, vmladava.s8, s8
  subs r3, r3, #1
  bne 2b
3:
  stm r5!, {r0, r2, r4, r6, r8, r10, r12, lr}
  subs r11, r11, #1
  bne 1b

  ldr r9, [sp, #ROW]
  ldr r8, [r9, #GROUP_VECTORS_SUMS]
  FOUR_RESULTS 0
  ble 5f
  FOUR_RESULTS 16
  bgt .Lgroup_vectors_block
5:
  add sp, #LOCALS + 4
  vpop {d8-d15}
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_group_vectors, .-cmsis_nn_delegate_group_vectors

#endif
