// The inner loops of runtime/kernels/common/gate_pairs.h for Armv7E-M and Armv8-M with DSP.
//
// Inputs of int8 are widened and doubled before, so that a pair of them is a single load. All rows of a gate are
// requantized alike: the factors stay in registers for eight rows, as do the sums.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/eight_channels_dsp.h"
#include "runtime/kernels/common/gate_rows_members.h"

  .syntax unified
  .thumb

// The frame: the first sums of a block once they are requantized, the GateRows, where the inputs that are being read end,
// where .Lsums returns to, the output, blocks left, the table, and, for weights of 4 bits, 8 times the sums of the inputs
// and of the outputs of the step before.
#define GATE 32
#define END 36
#define RETURN 40
#define OUTPUT 44
#define BLOCKS 48
#define TABLE 52
#define FRAME 60  // with the saved registers, a multiple of 8
#define EIGHT_INPUTS 56
#define EIGHT_HIDDEN 60
#define NIBBLE_FRAME 68  // likewise

// Bytes of eight inputs.
#define EIGHT 16
// Bytes of the numbers of a unit.
#define UNIT 8

.macro PAIR products
  ldr r3, [r0], #4
  \products
.endm

// Puts 8 times the sum of the numbers from `begin` of the GateRows at r12 on to `to` in the frame, 8 numbers at a time.
// r1 has 8 in both halves; r0, r2, and r4-r8 are temporary.
.macro ADD_EIGHTS begin, to
  ldrd r0, r2, [r12, #\begin]
  mov r8, #0
7:  // eight numbers
  ldm r0!, {r4-r7}
  smlad r8, r4, r1, r8
  smlad r8, r5, r1, r8
  smlad r8, r6, r1, r8
  smlad r8, r7, r1, r8
  cmp r0, r2
  bne 7b
  str r8, [sp, #\to]
.endm

// What the sums of a block of weights of 4 bits start from: they are 8 more than they stand for.
.macro SUBTRACT_EIGHTS from
  ldr r2, [sp, #\from]
  .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
  sub \sum, \sum, r2
  .endr
.endm

// One of the eight sums: a line of the table at r2, whose steps lie at r3, and the result to r1. r0 has the argument.
.macro LINE sum
  asr r12, r0, #9
  ldr lr, [r2, r12, lsl #2]
  ldrh r12, [r3, r12, lsl #1]
  mla \sum, r0, r12, lr
.endm

.macro SIGMOID sum, unit
  add r0, \sum, \sum, lsl #1
  LINE \sum
  asr \sum, \sum, #10
  strh \sum, [r1, #\unit * UNIT]
.endm

.macro TANH sum, unit
  add r0, \sum, \sum, lsl #1
  ssat r0, #18, r0, lsl #1
  LINE \sum
  sub \sum, \sum, #0x01000100
  asr \sum, \sum, #9
  strh \sum, [r1, #\unit * UNIT]
.endm

.macro SHIFT_RIGHT sum
  smmlar r0, \sum, r2, r3
  add r0, r0, \sum, asr #31
  asr \sum, r0, r12
.endm

.macro SHIFT_LEFT sum
  lsl \sum, \sum, r0
  smmulr \sum, \sum, r2
.endm

// Both sums: the first from the frame.
.macro ADD_FIRST sum, unit
  ldr r0, [sp, #\unit * 4]
  add \sum, \sum, r0
  ssat \sum, #16, \sum
.endm

// A function of the GateRows in r0. `products` multiplies the pair of inputs in r3: EIGHT_CHANNELS, or EIGHT_NIBBLES, which
// needs `eights`: 8 times the numbers are taken from sums, and have a place in `frame`.
.macro MULTIPLY_GATE_PAIRS name, products, frame, eights
  FUNCTION \name
  push {r4-r11, lr}
  sub sp, #\frame
  str r0, [sp, #GATE]
  .ifnb \eights
  mov r12, r0
  mov r1, #0x00080008
  NEIGHBOURS GATE_ROWS_INPUTS, GATE_ROWS_INPUTS_END, GATE_ROWS_HIDDEN, GATE_ROWS_HIDDEN_END
  ADD_EIGHTS GATE_ROWS_INPUTS, EIGHT_INPUTS
  ADD_EIGHTS GATE_ROWS_HIDDEN, EIGHT_HIDDEN
  mov r0, r12
  .endif
  NEIGHBOURS GATE_ROWS_TABLE, GATE_ROWS_OUTPUT, GATE_ROWS_BLOCKS
  ldrd r1, r2, [r0, #GATE_ROWS_TABLE]
  ldr r3, [r0, #GATE_ROWS_BLOCKS]
  strd r2, r3, [sp, #OUTPUT]
1:  // eight rows
  ldr r12, [sp, #GATE]
  NEIGHBOURS GATE_ROWS_INPUTS, GATE_ROWS_INPUTS_END
  ldrd r0, r2, [r12, #GATE_ROWS_INPUTS]
  bl .Lsums\@
  LANDING_PAD
  .ifnb \eights
  SUBTRACT_EIGHTS EIGHT_INPUTS
  .endif
  ldr r0, [sp, #GATE]
  add r0, r0, #GATE_ROWS_SCALES
  bl .Lrequantize\@
  LANDING_PAD
  .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
  ssat \sum, #16, \sum
  .endr
  stm sp, {r4-r11}
  ldr r12, [sp, #GATE]
  NEIGHBOURS GATE_ROWS_HIDDEN, GATE_ROWS_HIDDEN_END
  ldrd r0, r2, [r12, #GATE_ROWS_HIDDEN]
  bl .Lsums\@
  LANDING_PAD
  .ifnb \eights
  SUBTRACT_EIGHTS EIGHT_HIDDEN
  .endif
  ldr r0, [sp, #GATE]
  add r0, r0, #GATE_ROWS_SCALES + GATE_SCALE_BYTES
  bl .Lrequantize\@
  LANDING_PAD

  str r1, [sp, #TABLE]
  ldr r12, [sp, #GATE]
  ldr r1, [sp, #OUTPUT]
  NEIGHBOURS GATE_ROWS_FUNCTION, GATE_ROWS_LINES
  ldrd r12, r3, [r12, #GATE_ROWS_FUNCTION]
  cmp r12, #GATE_SIGMOID
  blt .Lapart\@
  add r2, r3, #GATE_LINES_STARTS
  add r3, r3, #GATE_LINES_STEPS
  ADD_FIRST r4, 0
  ADD_FIRST r5, 1
  ADD_FIRST r6, 2
  ADD_FIRST r7, 3
  ADD_FIRST r8, 4
  ADD_FIRST r9, 5
  ADD_FIRST r10, 6
  ADD_FIRST r11, 7
  bne .Ltanh\@
  SIGMOID r4, 0
  SIGMOID r5, 1
  SIGMOID r6, 2
  SIGMOID r7, 3
  SIGMOID r8, 4
  SIGMOID r9, 5
  SIGMOID r10, 6
  SIGMOID r11, 7
.Lnext\@:
  NEIGHBOURS OUTPUT, BLOCKS
  ldr r3, [sp, #BLOCKS]
  add r2, r1, #8 * UNIT
  subs r3, r3, #1
  strd r2, r3, [sp, #OUTPUT]
  ldr r1, [sp, #TABLE]
  bne 1b
  add sp, #\frame
  pop {r4-r11, pc}

.Ltanh\@:
  TANH r4, 0
  TANH r5, 1
  TANH r6, 2
  TANH r7, 3
  TANH r8, 4
  TANH r9, 5
  TANH r10, 6
  TANH r11, 7
  b .Lnext\@

.Lapart\@:
  mov r12, sp
  mov r0, r1
  .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
  ldr r2, [r12], #4
  ssat \sum, #16, \sum
  strh r2, [r0]
  strh \sum, [r0, #2]
  add r0, r0, #UNIT
  .endr
  b .Lnext\@

// Multiplies the inputs from r0 to r2 with eight rows from r1, whose sums it returns.
.Lsums\@:
  str lr, [sp, #RETURN]
  str r2, [sp, #END]
  ldm r1!, {r4-r11}
  sub r2, r2, r0
  tst r2, #EIGHT
  .ifnb \eights
  mov lr, #NIBBLES_MASK  // leaves the flags
  .endif
  bne 3f
2:  // sixteen inputs
  PAIR \products
  PAIR \products
  PAIR \products
  PAIR \products
3:  // the last eight
  PAIR \products
  PAIR \products
  PAIR \products
  PAIR \products
  ldr r2, [sp, #END]
  cmp r0, r2
  bne 2b
  ldr pc, [sp, #RETURN]

// Requantizes the eight sums as the GateScale at r0 says. Shifts to the left, which are seldom, need no second rounding. A
// negative shift to the right is that of sums that are not doubled yet; one to the left then doubles them, too.
.Lrequantize\@:
  ldm r0, {r0, r2, r3, r12}
  cmp r12, #0
  ble 4f
5:
  .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
  SHIFT_RIGHT \sum
  .endr
  bx lr
4:
  beq 6f
  rsb r12, r12, #0
  .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
  lsl \sum, \sum, #1
  .endr
  b 5b
6:
  .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
  SHIFT_LEFT \sum
  .endr
  bx lr
  .size \name, .-\name
.endm

// void cmsis_nn_delegate_multiply_gate_pairs(
//     const GateRows* gate)   r0
// void cmsis_nn_delegate_multiply_nibble_gate_pairs(   the same with weights of 4 bits
//
// Register usage
//   Inputs    r0, and r3 for a pair of them
//   Table     r1
//   Weights   r12 lr, widened in r2 r12 lr; of 4 bits r12, masked in r2, with the mask in lr
//   Sums      r4-r11, one for each row of a block
//   Then      r2 multiplier, r3 half of a step, r12 shift; of functions r2 r3 both tables, r1 output, r0 r12 lr a line
//
// Layout of the table, for each 8 rows: 8 starts, int32, doubled; for each two inputs, 0 and 2 or 1 and 3 of four, four
// words with the int8 weights of two rows each: of the first input for both, then of the second; both again for the
// outputs of the step before. Of int16, two inputs are 0 and 1 or 2 and 3 of four. With weights of 4 bits, which are 8
// more than they stand for, two words have those of four rows each, as row_products_dsp.S describes. The output has four
// numbers of 16 bits for each unit.
//
// Cost: 155 instructions for 16 inputs and 8 rows, 128 products, or 79 for a last 8 inputs; for each block 186 more with a
// sigmoid, 203 with tanh, 146 with sums apart. Without a shift to the right, 7 less for each of the two kinds of inputs;
// with sums that are not doubled, 11 more. With weights of 4 bits as many for the products, 20 more for a block, and 7 for
// each eight inputs and outputs once a call.
//
// Bounds: reads [inputs, inputs_end) and [hidden, hidden_end), multiples of 16 bytes that are not empty and that its
// caller has laid out in scratch memory; for each of `blocks` blocks 64 bytes of the table and 64 for each eight of these
// inputs, or 32 with weights of 4 bits, which is all of it: init() compares block_words and blocks. Writes a number of eight
// units a block, which is why scratch memory has room for whole blocks. The tables of lines have 512 entries: an argument of
// 16 bits, times 3, is within them, and that of tanh, twice as large, is limited. ReadsPast is 0.
  MULTIPLY_GATE_PAIRS cmsis_nn_delegate_multiply_gate_pairs, EIGHT_CHANNELS, FRAME
  MULTIPLY_GATE_PAIRS cmsis_nn_delegate_multiply_nibble_gate_pairs, EIGHT_NIBBLES, NIBBLE_FRAME, EIGHTS

// void cmsis_nn_delegate_widen_doubled(
//     const int8_t* from,   r0
//     int32_t words,        r1
//     int16_t* to)          r2
//
// Register usage: r3 r12 four numbers.
//
// Cost: 8 instructions for 4 numbers.
//
// Bounds: reads and writes `words`, at least 1, times four numbers. `from` need not be aligned. ReadsPast is 0.
  FUNCTION cmsis_nn_delegate_widen_doubled
  ldr r12, [r0], #4
  sxtb16 r3, r12
  sxtb16 r12, r12, ror #8
  sadd16 r3, r3, r3
  sadd16 r12, r12, r12
  subs r1, r1, #1
  strd r3, r12, [r2], #8
  bne cmsis_nn_delegate_widen_doubled
  bx lr
  .size cmsis_nn_delegate_widen_doubled, .-cmsis_nn_delegate_widen_doubled

#endif
