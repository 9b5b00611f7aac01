// The inner loops of runtime/kernels/common/pair_products.h for Armv7E-M and Armv8-M with DSP.
//
// Each sum of two products is one SMLAD. 2 windows by 4 channels take 8 registers for sums; a word of
// weights is widened with SXTB16 when it is needed, so two registers suffice for them, and two for inputs.
// Inputs and table are 4-byte aligned; outputs need not be, so word stores have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/four_channels_dsp.h"

  .syntax unified
  .thumb

// What PRODUCTS does with weights of 4 bits: 13 instructions. 16 bits have those of four channels for an input, of the last
// one as they are and of the others 8 more, so that they are 4096, 256, 16 and 1 times each and SMLAD multiplies them as
// they are. Parts of them, which a mask leaves, give the sums that SEPARATE_NIBBLES takes from each other.
.macro PRODUCTS_NIBBLES
  ldm r0!, {r2, r3}
  ldr r12, [r1], #4
  and lr, r12, #0x000F000F
  smlad r7, r2, r12, r7
  smlad r11, r3, r12, r11
  smlad r4, r2, lr, r4
  smlad r8, r3, lr, r8
  and lr, r12, #0x0F000F00
  uxtb16 r12, r12
  smlad r6, r2, lr, r6
  smlad r10, r3, lr, r10
  smlad r5, r2, r12, r5
  smlad r9, r3, r12, r9
.endm

// Puts what sums start with behind the PairProducts: what the 8 that are in weights too much make of the inputs, less than 0.
// Of the four sums of a window it is -8 times the sum of its inputs, and 17, 256 and 273 times that.
#define NIBBLE_STARTS PAIR_PRODUCTS_BYTES
#define WITH_NIBBLE_STARTS 36
.macro ADD_INPUTS
  ldr r0, [sp, #PAIR_PRODUCTS_INPUTS]
  ldr r12, [sp, #PAIR_PRODUCTS_INPUTS_END]
  mvn lr, #0x00070007
  mov r10, #0
  mov r11, #0
7:  // eight inputs of both windows
  ldm r0!, {r2-r9}
  smlad r10, r2, lr, r10
  smlad r11, r3, lr, r11
  smlad r10, r4, lr, r10
  smlad r11, r5, lr, r11
  smlad r10, r6, lr, r10
  smlad r11, r7, lr, r11
  smlad r10, r8, lr, r10
  smlad r11, r9, lr, r11
  cmp r0, r12
  bne 7b
  mov r4, r10
  add r5, r10, r10, lsl #4
  lsl r6, r10, #8
  add r7, r5, r6
  mov r8, r11
  add r9, r11, r11, lsl #4
  lsl r10, r11, #8
  add r11, r9, r10
  add r12, sp, #NIBBLE_STARTS
  stm r12, {r4-r11}
.endm

// What FOUR_CHANNELS does with weights of 4 bits, for sums of more than 19 bits. In r7 and r11 only the last channel needs
// them: there its sum of WIDE_INPUTS inputs, 4096 times as large, is what the others do not add, so that it is taken out,
// before it wraps, and added up in 32 bits. Of one part of the inputs that takes 21 instructions. Leaves the totals in r2 r3.
#define WIDE_PART_BYTES (4 * WIDE_INPUTS)  // of both windows
#define WIDE_TOTALS (NIBBLE_STARTS + 32)
#define WIDE_PART_END (WIDE_TOTALS + 8)
#define WITH_WIDE_SUMS 44
.macro FOUR_WIDE_CHANNELS products, less, starts
  ldr r0, [sp, #PAIR_PRODUCTS_INPUTS]
  add r12, sp, #\starts
  ldm r12, {r4-r11}
  mov r2, #0
  mov r3, #0
.Lpart\@:
  ldr r12, [sp, #PAIR_PRODUCTS_INPUTS_END]
  strd r2, r3, [sp, #WIDE_TOTALS]
  sub r12, r12, r0
  cmp r12, #WIDE_PART_BYTES
  it hi
  movhi r12, #WIDE_PART_BYTES
  add r12, r12, r0
  str r12, [sp, #WIDE_PART_END]
.Leight_inputs\@:
  \products
  \products
  \products
  \products
  ldr lr, [sp, #WIDE_PART_END]
  cmp r0, lr
  bne .Leight_inputs\@
  ldrd r2, r3, [sp, #WIDE_TOTALS]
  add r12, r5, r6
  sub lr, r7, r12
  add r2, r2, lr, asr #12
  mov r7, r12
  add r12, r9, r10
  sub lr, r11, r12
  add r3, r3, lr, asr #12
  mov r11, r12
  ldr r12, [sp, #PAIR_PRODUCTS_INPUTS_END]
  cmp r0, r12
  bne .Lpart\@
.endm

// The same as SEPARATE_NIBBLES with the totals of the last channel in r2 r3, which are not shifted.
.macro SEPARATE_WIDE_NIBBLES
  sub r5, r5, r4
  sub r9, r9, r8
  mov r7, r2
  mov r11, r3
  ldr lr, [r1], #4
.endm

// Leaves in r4-r11 the sums of channels alone, times 1, 16, 256 and 4096, and in lr the word that they share.
.macro SEPARATE_NIBBLES
  SEPARATE_FOUR r4, r5, r6, r7
  SEPARATE_FOUR r8, r9, r10, r11
  ldr lr, [r1], #4
.endm
.macro SEPARATE_FOUR a, b, c, d
  sub \d, \d, \b
  sub \d, \d, \c
  sub \b, \b, \a
.endm

// Requantizes the sums of one channel, with the next three words of the table. `bits`, by which they are shifted, are none.
.macro REQUANTIZE_FLOOR a, b, bits
  ldm r1!, {r0, r2, r3}
  lsl \a, \a, r0
  lsl \b, \b, r0
  smmla \a, \a, r2, r3
  smmla \b, \b, r2, r3
  ssat \a, #8, \a, asr #12
  ssat \b, #8, \b, asr #12
.endm
.macro REQUANTIZE_ANY a, b, bits
  ldm r1!, {r0, r2, r3}
  lsl \a, \a, #1
  lsl \b, \b, #1
  SCALE_ANY \a, \b
.endm
.macro SCALE_ANY a, b
  smmlar r12, \a, r2, r3
  add \a, r12, \a, asr #31
  smmlar r12, \b, r2, r3
  add \b, r12, \b, asr #31
  asr \a, \a, r0
  asr \b, \b, r0
  ssat \a, #8, \a
  ssat \b, #8, \b
.endm

// The same of sums without what they start with and 2^`bits` times as large, with the next two words of the table: the start,
// times 256, with the shift in its lowest bits, and the multiplier. lr has the word that all channels of the block share.
.macro REQUANTIZE_NIBBLES_FLOOR a, b, bits
  ldm r1!, {r0, r2}
  asr r3, r0, #8 - 2
  ADD_START \a, \bits, 2
  ADD_START \b, \bits, 2
  lsl r3, lr, r0
  sub r3, r3, #(128 << 12) - (1 << 11)
  lsl \a, \a, r0
  lsl \b, \b, r0
  smmla \a, \a, r2, r3
  smmla \b, \b, r2, r3
  ssat \a, #8, \a, asr #12
  ssat \b, #8, \b, asr #12
.endm
.macro REQUANTIZE_NIBBLES_ANY a, b, bits
  ldm r1!, {r0, r2}
  asr r3, r0, #8 - 1
  ADD_START \a, \bits, 1
  ADD_START \b, \bits, 1
  lsl r3, lr, r0
  add r0, r0, #1
  SCALE_ANY \a, \b
.endm
// Adds the start in r3, which is shifted to the left by `left`, and leaves the whole sum so.
.macro ADD_START sum, bits, left
  .if \bits > \left
  add \sum, r3, \sum, asr #\bits - \left
  .else
  add \sum, r3, \sum, lsl #\left - \bits
  .endif
.endm

.macro PACK a, b, c, d
  bfi \a, \b, #8, #8
  bfi \a, \c, #16, #8
  bfi \a, \d, #24, #8
.endm

// Limits four results at a time: SSUB8 sets a flag for each byte whose difference is not negative, and SEL takes the
// first byte where it is set.
.macro LIMIT word
  ssub8 r12, \word, r2
  sel \word, \word, r2
  ssub8 r12, r3, \word
  sel \word, \word, r3
.endm

// void cmsis_nn_delegate_multiply_pairs_floor(   and _any
//     const PairProducts* products)   r0
// void cmsis_nn_delegate_multiply_joint_pairs_floor(   and _any; the same with weights of two channels in 16 bits
// void cmsis_nn_delegate_multiply_nibble_pairs_floor(   and _any; the same with weights of 4 bits
// void cmsis_nn_delegate_multiply_wide_nibble_pairs_floor(   and _any; the same for sums of up to 24 bits
//
// Register usage
//   Inputs    r0, and r2 r3 for a pair of both windows
//   Table     r1
//   Weights   r12 lr
//   Sums      r4 r5 r6 r7      first window, by channel
//             r8 r9 r10 r11    second window
//   The PairProducts lies on the stack, at its own offsets.
//
// Layout of the table, for four channels: 4 starts, int32; for each two inputs a word of int8 for channels 0 and 1 and
// one for 2 and 3, of the first input for both channels and then of the second; shift, multiplier and correction of each
// channel. With weights of two channels in 16 bits, starts and weights of channels 1 and 3 are 256 times their own and those of
// 0 and 2. With weights of 4 bits, there is one word for each two inputs: in its lower half the weights of channels 0 to 3
// for the first input, channel 0 in the lowest bits, and in its upper half those for the second; of channels 0 to 2, 8 more
// than they are. No starts come first: after the weights come the word that NibbleFloor and NibbleAny read, and for each
// channel 256 times its start, with a shift in the lowest bits, and the multiplier.
//
// Cost: 63 instructions for 8 inputs of two windows and four channels, 64 products; then 49 for the eight results with
// form FLOOR, 76 with ANY, of which 11 are for limits, and 3 if there are none. With weights of two channels in 16 bits, 51
// instead of 63, and then 57 and 84. With weights of 4 bits, 55 instead of 63, then 73 and 92; and for all channels of two windows 11 for 8 inputs,
// and 15. Sums of up to 24 bits take 21 more for each 504 inputs or fewer, and 4 more.
//
// Sums of weights of 4 bits: with S the sum of a channel's products and X that of the inputs, those of r4 to r7 are at first
// 1, 16, 256 and 4096 times S + 8 X (of the last channel, S), each with those that are in the same bits: all of them in
// r7, the first two in r5. The sums start with all that X adds, so that this is gone. Everything is modulo 2^32, which leaves 4096 times S as it
// is because the compiler proves that the products of a channel have 19 bits for all inputs (nibble_table.why_none()).
// Wide sums: 504 products of -8 to 7 and int8 have less than 2^19, whatever the weights are, so that 4096 times such a part
// of the last channel is left. Of the others all inputs are in one sum, 256 times that in r6 and 16 times in r5: the compiler
// proves that the products have 23 bits and a sign (nibble_table.why_not_wide()). What sums start with is in r7 what it is in r5 and
// r6, so it is gone from the first part.
//
// Bounds: a step reads 32 bytes of inputs and of weights, 16 of weights of 4 bits, and inputs are a multiple of that and
// not none: PairWindows::depth(). Blocks have 16 words and one for each input; with 4 bits 9, and one for each two
// inputs. There are channels / 4, rounded up: init() compares block_words and blocks, so ReadsPast is 0. Four results at a time are
// stored as a word while four channels or more are left, and then the last one to three as bytes.
.macro MULTIPLY name, products, requantize, limited, prepare, more=4, starts, four_channels=FOUR_CHANNELS, last=12
  FUNCTION \name
  BEGIN_PAIR_PRODUCTS \more
  .ifnb \starts
  ADD_INPUTS
  .endif
1:  // four channels
  \four_channels \products, , \starts
  \prepare
  \requantize r4, r8, 0
  \requantize r5, r9, 4
  \requantize r6, r10, 8
  \requantize r7, r11, \last
  PACK r4, r5, r6, r7
  PACK r8, r9, r10, r11
  .if \limited
  ldrd r2, r3, [sp, #PAIR_PRODUCTS_LEAST]
  cmp r2, r3
  bgt 2f  // nothing is limited
  LIMIT r4
  LIMIT r8
2:
  .endif
  ldrd r2, r3, [sp, #PAIR_PRODUCTS_OUTPUT0]
  ldr r12, [sp, #PAIR_PRODUCTS_CHANNELS]
  subs r12, r12, #4
  blt 3f
  str r4, [r2], #4
  str r8, [r3], #4
  strd r2, r3, [sp, #PAIR_PRODUCTS_OUTPUT0]
  str r12, [sp, #PAIR_PRODUCTS_CHANNELS]
  bne 1b
  b 5f
3:  // the last one to three channels
  adds r12, r12, #4
4:
  strb r4, [r2], #1
  strb r8, [r3], #1
  lsr r4, r4, #8
  lsr r8, r8, #8
  subs r12, r12, #1
  bne 4b
5:
  END_PAIR_PRODUCTS \more
  .size \name, .-\name
.endm

  MULTIPLY cmsis_nn_delegate_multiply_pairs_floor, PRODUCTS, REQUANTIZE_FLOOR, 0
  MULTIPLY cmsis_nn_delegate_multiply_pairs_any, PRODUCTS, REQUANTIZE_ANY, 1
  MULTIPLY cmsis_nn_delegate_multiply_joint_pairs_floor, PRODUCTS_JOINT, REQUANTIZE_FLOOR, 0, SEPARATE_EIGHT
  MULTIPLY cmsis_nn_delegate_multiply_joint_pairs_any, PRODUCTS_JOINT, REQUANTIZE_ANY, 1, SEPARATE_EIGHT
  MULTIPLY cmsis_nn_delegate_multiply_nibble_pairs_floor, PRODUCTS_NIBBLES, REQUANTIZE_NIBBLES_FLOOR, 0, SEPARATE_NIBBLES, \
           WITH_NIBBLE_STARTS, NIBBLE_STARTS
  MULTIPLY cmsis_nn_delegate_multiply_nibble_pairs_any, PRODUCTS_NIBBLES, REQUANTIZE_NIBBLES_ANY, 1, SEPARATE_NIBBLES, \
           WITH_NIBBLE_STARTS, NIBBLE_STARTS
  MULTIPLY cmsis_nn_delegate_multiply_wide_nibble_pairs_floor, PRODUCTS_NIBBLES, REQUANTIZE_NIBBLES_FLOOR, 0, \
           SEPARATE_WIDE_NIBBLES, WITH_WIDE_SUMS, NIBBLE_STARTS, FOUR_WIDE_CHANNELS, 0
  MULTIPLY cmsis_nn_delegate_multiply_wide_nibble_pairs_any, PRODUCTS_NIBBLES, REQUANTIZE_NIBBLES_ANY, 1, \
           SEPARATE_WIDE_NIBBLES, WITH_WIDE_SUMS, NIBBLE_STARTS, FOUR_WIDE_CHANNELS, 0

// Widens four bytes of two windows, one word each, and stores the four words at `out`, which moves on.
.macro WIDEN a, b, out
  sxtb16 r6, \a
  sxtb16 r7, \b
  sxtb16 r12, \a, ror #8
  sxtb16 lr, \b, ror #8
  stm \out!, {r6, r7, r12, lr}
.endm

// The same of eight bytes from r0 and from `b`, with which an address of LDR moves on with r0 or by 4, to r2: 13
// instructions. Changes r4-r9, r12 and lr.
.macro WIDEN_EIGHT b:vararg
  ldr r7, \b
  ldr r6, [r0], #4
  ldr lr, \b
  ldr r12, [r0], #4
  sxtb16 r4, r6
  sxtb16 r5, r7
  sxtb16 r6, r6, ror #8
  sxtb16 r7, r7, ror #8
  sxtb16 r8, r12
  sxtb16 r9, lr
  sxtb16 r12, r12, ror #8
  sxtb16 lr, lr, ror #8
  stm r2!, {r4-r9, r12, lr}
.endm

// void cmsis_nn_delegate_widen_pairs(
//     const int8_t* a,   r0
//     const int8_t* b,   r1
//     int32_t* out,      r2
//     int32_t words)     r3
//
// Register usage: r3 twos of words; r4-r9 r12 lr words and pairs, see the macros.
//
// Cost: 15 instructions for 8 inputs of two windows, and for 4 of them 9 if words are odd; 5 for a call.
//
// Bounds: reads 4 bytes of `a` and `b` and writes 16 bytes, `words` times, which is at least 1: first one word if they
// are odd, which may be all, and then two at a time. Callers give whole words of a window.
  FUNCTION cmsis_nn_delegate_widen_pairs
  push {r4-r9, lr}
  lsrs r3, r3, #1
  bcc 1f
  ldr r4, [r0], #4
  ldr r5, [r1], #4
  WIDEN r4, r5, r2
  cbz r3, 2f
1:
  WIDEN_EIGHT [r1], #4
  subs r3, r3, #1
  bne 1b
2:
  pop {r4-r9, pc}
  .size cmsis_nn_delegate_widen_pairs, .-cmsis_nn_delegate_widen_pairs

// void cmsis_nn_delegate_widen_segments(
//     const int8_t* a,               r0
//     ptrdiff_t b_minus_a,           r1
//     int32_t* out,                  r2
//     const PairSegments* segments)  r3
//
// Register usage
//   Windows   r0, and r0 + r1
//   Out       r2; where rests go lies on the stack, in the place of PairSegments::rests
//   Words     r4 r5, widened in r6 r7 r12 lr; sixteens in r4-r9 r12 lr
//   Rests     r8 r9, four bytes of each window, of which r10 are still to come; on the stack, at HELD, while there are sixteens
//   Counters  r3 sixteens, words and rests, r11 segments, on the stack rows
//   The PairSegments lies on the stack, at its own offsets.
//
// Cost: for a segment 9, and 28 for each of its sixteens; if that is not all, 5 more, 9 for each word and 10 for each input of
// its rest; without sixteens 10 instead of 14. 12 for each four of rests; 7 for a row.
//
// Bounds: reads the bytes of segments alone; writes 16 bytes for each four of words and of rests, the last one rounded up:
// PairWindows::depth() has room for them. There may be no sixteens, words or rests, but there are segments and rows; `more`
// is 0 only if words and rests are none.
#define HELD PAIR_SEGMENTS_BYTES
  FUNCTION cmsis_nn_delegate_widen_segments
  push {r4-r11, lr}
  NEIGHBOURS PAIR_SEGMENTS_SIXTEENS, PAIR_SEGMENTS_MORE, PAIR_SEGMENTS_WORDS, PAIR_SEGMENTS_REST, PAIR_SEGMENTS_SEGMENTS, \
             PAIR_SEGMENTS_ROWS, PAIR_SEGMENTS_STEP, PAIR_SEGMENTS_ROW_STEP, PAIR_SEGMENTS_RESTS, PAIR_SEGMENTS_BYTES
  ldm r3, {r4-r12}
  sub sp, #PAIR_SEGMENTS_BYTES + 8
  add r12, r12, r2
  stm sp, {r4-r12}
  mov r10, #4
1:  // a row
  ldr r11, [sp, #PAIR_SEGMENTS_SEGMENTS]
2:  // a segment
  ldr r3, [sp, #PAIR_SEGMENTS_SIXTEENS]
  cbz r3, 4f
  strd r8, r9, [sp, #HELD]
3:
  WIDEN_EIGHT [r0, r1]
  WIDEN_EIGHT [r0, r1]
  subs r3, r3, #1
  bne 3b
  ldr r3, [sp, #PAIR_SEGMENTS_MORE]
  cbz r3, 9f
  ldrd r8, r9, [sp, #HELD]
4:
  ldr r3, [sp, #PAIR_SEGMENTS_WORDS]
  cbz r3, 6f
5:
  ldr r5, [r0, r1]
  ldr r4, [r0], #4
  subs r3, r3, #1
  WIDEN r4, r5, r2
  bne 5b
6:
  ldr r3, [sp, #PAIR_SEGMENTS_REST]
  cbz r3, 9f
7:
  ldrb r5, [r0, r1]
  ldrb r4, [r0], #1
  lsr r8, r8, #8
  lsr r9, r9, #8
  orr r8, r8, r4, lsl #24
  orr r9, r9, r5, lsl #24
  subs r10, r10, #1
  beq 11f
8:
  subs r3, r3, #1
  bne 7b
9:  // the next segment
  ldr r12, [sp, #PAIR_SEGMENTS_STEP]
  subs r11, r11, #1
  add r0, r0, r12
  bne 2b
  ldr r12, [sp, #PAIR_SEGMENTS_ROW_STEP]
  ldr r3, [sp, #PAIR_SEGMENTS_ROWS]
  add r0, r0, r12
  subs r3, r3, #1
  str r3, [sp, #PAIR_SEGMENTS_ROWS]
  bne 1b
  cmp r10, #4
  beq 10f
  // The last one to three, in the lower bytes. The others are multiplied with weights of 0.
  lsl r3, r10, #3
  lsr r8, r8, r3
  lsr r9, r9, r3
  ldr r3, [sp, #PAIR_SEGMENTS_RESTS]
  WIDEN r8, r9, r3
10:
  add sp, #PAIR_SEGMENTS_BYTES + 8
  pop {r4-r11, pc}
11:  // four of them
  ldr r4, [sp, #PAIR_SEGMENTS_RESTS]
  mov r10, #4
  WIDEN r8, r9, r4
  str r4, [sp, #PAIR_SEGMENTS_RESTS]
  b 8b
  .size cmsis_nn_delegate_widen_segments, .-cmsis_nn_delegate_widen_segments

#endif
