// The inner loops of runtime/kernels/fully_connected_groups/group_pairs.h for Armv7E-M and Armv8-M with DSP.
//
// Inputs are widened once for all channels. 16 bits have the weights of four channels for an input, as in
// pair_products_dsp.S.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/fully_connected_groups/group_pairs_members.h"

  .syntax unified
  .thumb

// The frame: the sums of the inputs and how many groups are left, the GroupPairs, where the inputs of the group end.
#define MINUS_EIGHTS 0
#define GROUPS 4
#define PAIRS 8
#define END 12
#define FRAME 20  // with the saved registers, a multiple of 8

// int32_t cmsis_nn_delegate_widen_group(
//     const int8_t* from,   r0   returns -8 times the sum of the inputs
//     int32_t count,        r1
//     int16_t* to)          r2
//
// Register usage: r3 four inputs, then two, r4 the others; r5 the sum, r12 -8 in both halves.
//
// Cost: 14 instructions for 8 inputs, and 6.
//
// Bounds: reads `count` bytes, a multiple of 8 that is not 0, and writes twice as many. `from` need not be aligned.
// ReadsPast is 0.
  FUNCTION cmsis_nn_delegate_widen_group
  push {r4, r5}
  mov r5, #0
  mvn r12, #0x00070007
1:  // eight inputs
  .rept 2
  ldr r3, [r0], #4
  sxtb16 r4, r3, ror #8
  sxtb16 r3, r3
  smlad r5, r3, r12, r5
  smlad r5, r4, r12, r5
  strd r3, r4, [r2], #8
  .endr
  subs r1, r1, #8
  bne 1b
  mov r0, r5
  pop {r4, r5}
  bx lr
  .size cmsis_nn_delegate_widen_group, .-cmsis_nn_delegate_widen_group

// Multiplies the pair of inputs in r3 with a `word` of weights, for sums that are 1, 16, 256 and 4096 times those of
// channels; the second and the last one have others in them. 7 instructions for 8 products; r2 is temporary.
.macro FOUR_NIBBLES word, a, b, c, d
  and r2, \word, #0x000F000F
  smlad \d, r3, \word, \d
  smlad \a, r3, r2, \a
  and r2, \word, #0x0F000F00
  uxtb16 \word, \word
  smlad \c, r3, r2, \c
  smlad \b, r3, \word, \b
.endm

// Leaves the sums of channels alone. The compiler has proved that those of a group are below 2^19, so that 4096 times as
// much fits 32 bits; what wraps on the way there does not matter.
.macro SEPARATE_FOUR a, b, c, d
  sub \d, \d, \b
  sub \d, \d, \c
  sub \b, \b, \a
  asr \d, \d, #12
  asr \c, \c, #8
  asr \b, \b, #4
.endm

// void cmsis_nn_delegate_multiply_group_pairs(
//     GroupPairs* pairs)   r0   its table is the next channels' after the call
//
// Register usage
//   Inputs    r0, and r3 for a pair of them
//   Table     r1
//   Weights   r12 lr, masked in r2
//   Sums      r4-r11, one for each channel
//   Then      r2 a factor, r3 totals, r12 lr one of them
//
// Layout of the table, for each group: for each two inputs, 0 and 2 or 1 and 3 of four, two words with the weights of
// four channels each, 8 more than they are but for the last one: in the lower half those for the first input, the first
// channel in the lowest bits, in the upper half those for the second; then the eight factors, int16.
//
// Cost: 67 instructions for 8 inputs and 8 channels, 64 products; 63 for a group.
//
// Bounds: reads `groups` words of minus_eights, at least 1, and as many times `group_bytes` of inputs, a multiple of
// 16 that is not 0, all of which its caller has laid out in scratch memory; for each group twice as many bytes of the
// table, and 16: init() compares block_words and blocks. ReadsPast is 0.
  FUNCTION cmsis_nn_delegate_multiply_group_pairs
  push {r4-r11, lr}
  sub sp, #FRAME
  mov r12, r0
  ldr r1, [r12, #GROUP_PAIRS_TABLE]
  NEIGHBOURS GROUP_PAIRS_MINUS_EIGHTS, GROUP_PAIRS_GROUPS
  ldrd r2, r3, [r12, #GROUP_PAIRS_MINUS_EIGHTS]
  NEIGHBOURS MINUS_EIGHTS, GROUPS, PAIRS
  strd r2, r3, [sp, #MINUS_EIGHTS]
  str r12, [sp, #PAIRS]
  ldr r0, [r12, #GROUP_PAIRS_INPUTS]
1:  // one group; r12 is the GroupPairs
  ldr r3, [sp, #MINUS_EIGHTS]
  ldr r2, [r12, #GROUP_PAIRS_GROUP_BYTES]
  ldr r4, [r3], #4
  add r2, r2, r0
  str r3, [sp, #MINUS_EIGHTS]
  str r2, [sp, #END]
  // What the 8 that are in weights too much make of the inputs, less than 0.
  add r5, r4, r4, lsl #4
  lsl r6, r4, #8
  add r7, r5, r6
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
2:  // eight inputs
  .rept 4
  ldm r1!, {r12, lr}
  ldr r3, [r0], #4
  FOUR_NIBBLES r12, r4, r5, r6, r7
  FOUR_NIBBLES lr, r8, r9, r10, r11
  .endr
  ldr r2, [sp, #END]
  cmp r0, r2
  bne 2b
  SEPARATE_FOUR r4, r5, r6, r7
  SEPARATE_FOUR r8, r9, r10, r11
  ldr r3, [sp, #PAIRS]
  add r3, r3, #GROUP_PAIRS_TOTALS
  .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
  ldrsh r2, [r1], #2
  ldrd r12, lr, [r3]
  smlal r12, lr, \sum, r2
  strd r12, lr, [r3], #8
  .endr
  NEIGHBOURS GROUPS, PAIRS
  ldrd r2, r12, [sp, #GROUPS]
  subs r2, r2, #1
  str r2, [sp, #GROUPS]
  bne 1b
  str r1, [r12, #GROUP_PAIRS_TABLE]
  add sp, #FRAME
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_multiply_group_pairs, .-cmsis_nn_delegate_multiply_group_pairs

#endif
