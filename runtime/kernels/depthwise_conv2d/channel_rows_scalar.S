// The inner loops of runtime/kernels/depthwise_conv2d/channel_rows_scalar.h, for cores without DSP.
//
// Columns are read once each, from left to right: with stride 1 one is the third of a window, the second of the next
// one and the first of the one after that. A sum moves to the register of its next role by the first product of a
// column, which is added to it there.
#if defined(__ARM_ARCH_ISA_THUMB) && !(defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP) && \
    !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/depthwise_conv2d/channel_rows_members.h"

  .syntax unified
  .thumb

// void cmsis_nn_delegate_filter_row_stride1(   and _stride2
//     const uint8_t* column,   r0   the channel's byte in the first record
//     const int32_t* table,    r1   of the channel
//     int8_t* output,          r2
//     const ChannelRow* row)   r3
// void cmsis_nn_delegate_add_row_stride1(      and _stride2
//     const uint8_t* column,   r0
//     const int32_t* table,    r1
//     int32_t outputs)         r2
//
// Register usage: at the macros, which are others for Armv6-M.
//
// Layout: a record of COLUMN bytes for each column of the window, with a word for each of three rows and room for a sum;
// channels are the bytes of a word. The table of a channel is START, SPAN, FACTOR and CONSTANT behind three words of
// weights, of which the first three bytes count.
//
// Cost, for an output, 9 products. With MLA: 13 instructions with stride 1, and 3 for each four; 18 with stride 2; then 15
// for two results, or 12 for each where sums have limits. On Armv6-M: 41 with stride 1, and 3 for each two; 47 with
// stride 2; of a sum without its result 31 and 37.
//
// Bounds: there are `outputs` >= 1, and the rows are those of (outputs - 1) * stride + 3 columns, all in scratch memory
// (depthwise_conv2d_rows_scratch_bytes()): a window begins at each output and ends 3 columns later, and no other column
// is read. A sum is stored in the record where its window ends, behind the third row: 4 bytes from the channel's byte on,
// of which the last one is byte 18 of the record, or at a word on Armv6-M. So it lies over no row of the window, which
// the next channel still reads. Results are as many as `outputs`, COLUMN_BYTES apart. Of the table, 7 words are read,
// as many as a channel has; ReadsPast is 0.
#define COLUMN CHANNEL_ROWS_COLUMN
#define SECOND CHANNEL_ROWS_SECOND
#define THIRD CHANNEL_ROWS_THIRD
#define SUM CHANNEL_ROWS_SUM
#define START CHANNEL_ROWS_START
#define SPAN CHANNEL_ROWS_SPAN
#define FACTOR CHANNEL_ROWS_FACTOR
#define CONSTANT CHANNEL_ROWS_CONSTANT

.macro BEGIN name
  FUNCTION \name
.endm

#if __ARM_ARCH_ISA_THUMB >= 2
// One MLA for each product. All sums of a row are stored, and requantized after that, because weights and sums take
// every register.

// The stack in SUMS, below the arguments.
#define END 0
#define FIRST_STEPS 4
#define LOCALS 8
#define ARGUMENTS 16

// r0 column; r1 input; r2 r3 r4 sums; weights of the first row r5 r6 r7, of the second r8 r9 r10, of the third r11 r12 lr.
.macro COLUMN1
  ldrb r1, [r0, #SECOND]
  mla r2, r1, r10, r3
  mla r3, r1, r9, r4
  mul r4, r1, r8
  ldrb r1, [r0, #THIRD]
  mla r2, r1, lr, r2
  mla r3, r1, r12, r3
  mla r4, r1, r11, r4
  ldrb r1, [r0], #COLUMN
  mla r2, r1, r7, r2
  mla r3, r1, r6, r3
  mla r4, r1, r5, r4
  str r2, [r0, #SUM - COLUMN]
.endm

.macro SUMS1
  ldrb r1, [r0]
  mul r4, r1, r5
  ldrb r1, [r0, #SECOND]
  mla r4, r1, r8, r4
  ldrb r1, [r0, #THIRD]
  mla r4, r1, r11, r4
  ldrb r1, [r0, #COLUMN]
  mla r3, r1, r6, r4
  mul r4, r1, r5
  ldrb r1, [r0, #COLUMN + SECOND]
  mla r3, r1, r9, r3
  mla r4, r1, r8, r4
  ldrb r1, [r0, #COLUMN + THIRD]
  mla r3, r1, r12, r3
  mla r4, r1, r11, r4
  adds r0, #2 * COLUMN
  // Four columns at a time; the first time, as many as are left of the others. GNU's assembler refuses a distance that
  // is too large for a byte of the table.
  ldr r1, [sp, #FIRST_STEPS]
  tbb [pc, r1]
10:
  .byte (4f - 10b) / 2, (1f - 10b) / 2, (2f - 10b) / 2, (3f - 10b) / 2
4:
  COLUMN1
3:
  COLUMN1
2:
  COLUMN1
1:
  COLUMN1
  ldr r1, [sp, #END]
  cmp r0, r1
  bne 4b
.endm

// r0 column; r1 input; r2 r3 sums; r4 the last column.
.macro SUMS2
  ldr r4, [sp, #END]
  ldrb r1, [r0]
  mul r3, r1, r5
  ldrb r1, [r0, #SECOND]
  mla r3, r1, r8, r3
  ldrb r1, [r0, #THIRD]
  mla r3, r1, r11, r3
1:
  ldrb r1, [r0, #COLUMN]
  mla r2, r1, r6, r3
  ldrb r1, [r0, #COLUMN + SECOND]
  mla r2, r1, r9, r2
  ldrb r1, [r0, #COLUMN + THIRD]
  mla r2, r1, r12, r2
  ldrb r1, [r0, #2 * COLUMN + SECOND]
  mla r2, r1, r10, r2
  mul r3, r1, r8
  ldrb r1, [r0, #2 * COLUMN + THIRD]
  mla r2, r1, lr, r2
  mla r3, r1, r11, r3
  ldrb r1, [r0, #2 * COLUMN]!
  mla r2, r1, r7, r2
  mla r3, r1, r5, r3
  str r2, [r0, #SUM]
  cmp r0, r4
  bne 1b
.endm

// Stores the sums of \outputs windows: r0 column, r1 table. Leaves r0 to r3 on the stack.
.macro STORE_SUMS stride, outputs
  push {r0-r3}
  sub sp, #LOCALS
  mov r4, \outputs
  mov r5, #COLUMN * \stride
  mla r5, r4, r5, r0
.if \stride == 1
  adds r5, #2 * COLUMN
.endif
  and r6, r4, #3
  strd r5, r6, [sp, #END]
  ldrsb r5, [r1]
  ldrsb r6, [r1, #1]
  ldrsb r7, [r1, #2]
  ldrsb r8, [r1, #4]
  ldrsb r9, [r1, #5]
  ldrsb r10, [r1, #6]
  ldrsb r11, [r1, #8]
  ldrsb r12, [r1, #9]
  ldrsb lr, [r1, #10]
  SUMS\stride
  add sp, #LOCALS
.endm

// r8 r9 what the product of 64 bits begins with; r6 factor.
.macro RESULT stride, sum, low, high
  ldr \sum, [r0], #COLUMN * \stride
  mov \low, r8
  mov \high, r9
  smlal \low, \high, \sum, r6
  ssat \high, #8, \high
.endm

.macro FILTER_ROW stride
  BEGIN cmsis_nn_delegate_filter_row_stride\stride
  push {r4-r11, lr}
  ldr r12, [r3, #CHANNEL_ROW_OUTPUTS]
  STORE_SUMS \stride, r12
  pop {r0-r3}
  adds r0, #2 * COLUMN + SUM
  add r7, r1, #START
  ldr r1, [r3, #CHANNEL_ROW_OUTPUTS]
  ldr r10, [r3, #CHANNEL_ROW_COLUMN_BYTES]
  ldr r3, [r3, #CHANNEL_ROW_LIMITED]
  NEIGHBOURS START, SPAN, FACTOR, CONSTANT
  ldm r7, {r4-r7}  // start, span, factor, constant
  lsl r8, r7, #8
  asr r9, r7, #24
  cbnz r3, 7f
  // Results beyond the span are beyond int8, or there are no such sums.
  smlal r8, r9, r4, r6
  lsrs r1, r1, #1
  bcc 5f
  RESULT \stride, r3, r4, r5
  strb r5, [r2]
  add r2, r2, r10
  cbz r1, 6f
5:
  RESULT \stride, r3, r4, r5
  RESULT \stride, r7, r11, r12
  strb r5, [r2]
  strb r12, [r2, r10]
  add r2, r2, r10, lsl #1
  subs r1, #1
  bne 5b
6:
  pop {r4-r11, pc}
7:
  ldr r3, [r0], #COLUMN * \stride
  add r3, r3, r4
  cmp r3, r5
  it hi
  bichi r3, r5, r3, asr #31
  mov r11, r8
  mov r12, r9
  smlal r11, r12, r3, r6
  strb r12, [r2]
  add r2, r2, r10
  subs r1, #1
  bne 7b
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_filter_row_stride\stride, .-cmsis_nn_delegate_filter_row_stride\stride
.endm

.macro ADD_ROW stride
  BEGIN cmsis_nn_delegate_add_row_stride\stride
  push {r4-r11, lr}
  STORE_SUMS \stride, r2
  add sp, #ARGUMENTS
  pop {r4-r11, pc}
  .size cmsis_nn_delegate_add_row_stride\stride, .-cmsis_nn_delegate_add_row_stride\stride
.endm

#else
// The weights lie on the stack, from where a load takes no longer than a move to the register that MULS overwrites.
#define W00 0
#define W01 4
#define W02 8
#define W10 12
#define W11 16
#define W12 20
#define W20 24
#define W21 28
#define W22 32
#define ALL_OUTPUTS 36
#define FRAME 40

// r0 column; r1 input; r2 product; r3 r4 r5 sums.
.macro ADD_PRODUCT weight, to, from
  ldr r2, [sp, #\weight]
  muls r2, r1
  adds \to, \from, r2
.endm
.macro SET_PRODUCT weight, to
  ldr \to, [sp, #\weight]
  muls \to, r1
.endm
.macro INPUT offset
  ldrb r1, [r0, #\offset]
.endm

.macro COLUMN1 offset
  INPUT \offset
  ADD_PRODUCT W02, r3, r4
  ADD_PRODUCT W01, r4, r5
  SET_PRODUCT W00, r5
  INPUT \offset+SECOND
  ADD_PRODUCT W12, r3, r3
  ADD_PRODUCT W11, r4, r4
  ADD_PRODUCT W10, r5, r5
  INPUT \offset+THIRD
  ADD_PRODUCT W22, r3, r3
  ADD_PRODUCT W21, r4, r4
  ADD_PRODUCT W20, r5, r5
.endm

.macro FIRST_COLUMN to
  INPUT 0
  SET_PRODUCT W00, \to
  INPUT SECOND
  ADD_PRODUCT W10, \to, \to
  INPUT THIRD
  ADD_PRODUCT W20, \to, \to
.endm

// What becomes of the sum in r3; limit and limited are local labels.
//
// RESULT: r6 output, r7 and lr the factor without its lowest 8 bits and these alone, r8 start, r9 span, r10
// constant, r11 bytes from an output to the next one.
.macro STORE_RESULT stride, limit, limited
  add r3, r8
  cmp r3, r9
  bhi \limit\()f
\limited:
  mov r2, lr
  muls r2, r3
  lsrs r2, r2, #8
  muls r3, r7
  adds r3, r3, r2
  add r3, r10
  lsrs r3, r3, #24
  strb r3, [r6]
  add r6, r11
.endm
.macro LIMIT_RESULT limit, limited
\limit:
  asrs r2, r3, #31
  mov r3, r9
  bics r3, r2
  b \limited\()b
.endm
// TOTAL: r6 the room for it.
.macro STORE_TOTAL stride, limit, limited
  str r3, [r6]
  adds r6, #COLUMN * \stride
.endm

// r0 column, r12 its end.
.macro ROW1 what
  FIRST_COLUMN r5
  INPUT COLUMN
  ADD_PRODUCT W01, r4, r5
  SET_PRODUCT W00, r5
  INPUT COLUMN+SECOND
  ADD_PRODUCT W11, r4, r4
  ADD_PRODUCT W10, r5, r5
  INPUT COLUMN+THIRD
  ADD_PRODUCT W21, r4, r4
  ADD_PRODUCT W20, r5, r5
  adds r0, #2 * COLUMN
  // Two columns at a time; of an odd number, the first one alone.
  ldr r2, [sp, #ALL_OUTPUTS]
  lsrs r2, r2, #1
  bcc 1f
  subs r0, #COLUMN
  b 2f
1:
  COLUMN1 0
  STORE_\what 1, 3, 4
2:
  COLUMN1 COLUMN
  STORE_\what 1, 5, 6
  adds r0, #2 * COLUMN
  cmp r0, r12
  bne 1b
.endm

.macro ROW2 what
  FIRST_COLUMN r4
  adds r0, #COLUMN
1:
  INPUT 0
  ADD_PRODUCT W01, r3, r4
  INPUT SECOND
  ADD_PRODUCT W11, r3, r3
  INPUT THIRD
  ADD_PRODUCT W21, r3, r3
  INPUT COLUMN
  ADD_PRODUCT W02, r3, r3
  SET_PRODUCT W00, r4
  INPUT COLUMN+SECOND
  ADD_PRODUCT W12, r3, r3
  ADD_PRODUCT W10, r4, r4
  INPUT COLUMN+THIRD
  ADD_PRODUCT W22, r3, r3
  ADD_PRODUCT W20, r4, r4
  STORE_\what 2, 3, 4
  adds r0, #2 * COLUMN
  cmp r0, r12
  bne 1b
.endm

.macro PUSH_ALL
  push {r4-r7, lr}
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  push {r4-r7}
  sub sp, #FRAME
.endm
.macro POP_ALL
  add sp, #FRAME
  pop {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  pop {r4-r7, pc}
.endm

// r0 column, r1 table, r4 the number of outputs. Overwrites r4 to r7.
.macro PREPARE stride
  str r4, [sp, #ALL_OUTPUTS]
  movs r5, #COLUMN * \stride
  muls r5, r4
  adds r5, r5, r0
.if \stride == 1
  adds r5, #2 * COLUMN
.else
  adds r5, #COLUMN
.endif
  mov r12, r5
  mov r7, sp
.irp row, 0, 4, 8
  ldr r6, [r1, #\row]
  sxtb r4, r6
  lsls r5, r6, #16
  asrs r5, r5, #24
  lsls r6, r6, #8
  asrs r6, r6, #24
  stm r7!, {r4-r6}
.endr
.endm

.macro FILTER_ROW stride
  BEGIN cmsis_nn_delegate_filter_row_stride\stride
  PUSH_ALL
  ldr r4, [r3, #CHANNEL_ROW_OUTPUTS]
  PREPARE \stride
  ldr r4, [r1, #START]
  mov r8, r4
  ldr r4, [r1, #SPAN]
  mov r9, r4
  ldr r4, [r1, #CONSTANT]
  mov r10, r4
  ldr r4, [r3, #CHANNEL_ROW_COLUMN_BYTES]
  mov r11, r4
  ldr r7, [r1, #FACTOR]
  uxtb r4, r7
  mov lr, r4
  lsrs r7, r7, #8
  mov r6, r2
  ROW\stride RESULT
  POP_ALL
  LIMIT_RESULT 3, 4
.if \stride == 1
  LIMIT_RESULT 5, 6
.endif
  .size cmsis_nn_delegate_filter_row_stride\stride, .-cmsis_nn_delegate_filter_row_stride\stride
.endm

.macro ADD_ROW stride
  BEGIN cmsis_nn_delegate_add_row_stride\stride
  PUSH_ALL
  mov r4, r2
  PREPARE \stride
  lsrs r6, r0, #2
  lsls r6, r6, #2
  adds r6, #2 * COLUMN + SUM
  ROW\stride TOTAL
  POP_ALL
  .size cmsis_nn_delegate_add_row_stride\stride, .-cmsis_nn_delegate_add_row_stride\stride
.endm
#endif

  FILTER_ROW 1
  FILTER_ROW 2
  ADD_ROW 1
  ADD_ROW 2

#endif
