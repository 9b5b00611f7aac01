// The inner loops of runtime/kernels/portable/vector_products.h for MVE.
//
// VMLADAVA adds 16 products to a register with an even number, of which there are eight: the sums of 4 windows by 2
// channels. The odd ones hold the addresses of windows, weights and results.
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

  .syntax unified
  .thumb

// Offsets in VectorProducts.
#define WINDOWS 0
#define TABLE 16
#define CHANNELS 24
#define WINDOWS_STEP 32
#define GROUPS 36
#define LEAST 44
#define OFFSETS 56

// Offsets in what the functions keep on the stack.
#define PRODUCTS 0   // the VectorProducts
#define GROUPS_LEFT 4
#define LAST 8       // where the last two channels of the group's first window go
#define ENTRY 12     // into the code for the vectors after the first
#define BACK 16      // many vectors: from the first vector of a window to the last
#define TURNS 20     // many vectors: of the loop
#define OUTPUT 24    // many vectors
#define LOCALS 28

#define VECTOR_CODE 56  // bytes of MULTIPLY_VECTOR

// r1 r3 r5 r7 windows, r9 weights; sums of the first channel r4 r6 r8 r10, of the second r0 r2 r12 lr.
.macro MULTIPLY_VECTOR op, suffix:vararg
  vldrb.8 q0, [r9], #16
  vldrb.8 q2, [r1\suffix
  vldrb.8 q1, [r9], #16
  \op r4, q0, q2
  vldrb.8 q3, [r3\suffix
  \op r0, q1, q2
  vldrb.8 q2, [r5\suffix
  \op r6, q0, q3
  \op r2, q1, q3
  vldrb.8 q3, [r7\suffix
  \op r8, q0, q2
  \op r12, q1, q2
  \op r10, q0, q3
  \op lr, q1, q3
.endm

// Turns the sums into eight int8 in the lanes of q0, window by window. q5 zero point, q6 q7 limits.
.macro GATHER_SUMS
  vmov q0[2], q0[0], r4, r8
  vmov q0[3], q0[1], r6, r10
  vmov q1[2], q1[0], r0, r12
  vmov q1[3], q1[1], r2, lr
  ldm r9!, {r0, r2, r4, r6, r8, r10}
  vadd.i32 q0, q0, r0
  vadd.i32 q1, q1, r2
  vqrdmulh.s32 q0, q0, r4
  vqrdmulh.s32 q1, q1, r6
.endm
.macro SHIFT_AND_ADD_ZERO_POINT
  vrshl.s32 q0, r8
  vrshl.s32 q1, r10
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  vqadd.s16 q0, q0, q5
.endm
.macro REQUANTIZE_LEAST
  GATHER_SUMS
  SHIFT_AND_ADD_ZERO_POINT
  vqmovnb.s16 q0, q0
.endm
.macro REQUANTIZE_ANY
  GATHER_SUMS
  vshr.s32 q2, q0, #31
  vshr.s32 q3, q1, #31
  vadd.i32 q0, q0, q2
  vadd.i32 q1, q1, q3
  SHIFT_AND_ADD_ZERO_POINT
  vmax.s16 q0, q0, q6
  vmin.s16 q0, q0, q7
.endm

.macro BEGIN name
  .section .text.\name, "ax", %progbits
  .global \name
  .type \name, %function
  .thumb_func
  .balign 8
\name:
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #LOCALS
  str r0, [sp, #PRODUCTS]
  vldrw.32 q4, [r0, #OFFSETS]
  ldrd r2, r4, [r0, #GROUPS]
  str r2, [sp, #GROUPS_LEFT]
  vdup.16 q5, r4
  ldrd r4, r6, [r0, #LEAST]
  vdup.16 q6, r4
  vdup.16 q7, r6
  ldrd r9, r11, [r0, #TABLE]
  ldrd r2, r4, [r0, #CHANNELS]
  add r2, r2, r11
  subs r2, r2, #2
  str r2, [sp, #LAST]
  subs r4, r4, #1  // vectors after the first
.endm

// Goes back to 1 for the next two channels, or for the next group. r11 is where the results of these went.
.macro NEXT
  ldr r0, [sp, #LAST]
  add r11, r11, #2
  cmp r11, r0
  bls 1b
  sub r0, r11, r0
  cmp r0, #1
  bne 4f
  sub r11, r11, #1  // a single channel is left, and comes with the one before
  b 1b
4:
  ldr r0, [sp, #GROUPS_LEFT]
  subs r0, r0, #1
  beq 5f
  str r0, [sp, #GROUPS_LEFT]
  ldr r0, [sp, #PRODUCTS]
  ldr r9, [r0, #TABLE]
  ldr r2, [r0, #WINDOWS_STEP]
  add r1, r1, r2
  add r3, r3, r2
  add r5, r5, r2
  add r7, r7, r2
  ldr r2, [r0, #CHANNELS]
  ldr r4, [sp, #LAST]
  add r4, r4, r2, lsl #2
  str r4, [sp, #LAST]
  add r2, r2, r2, lsl #1
  add r11, r11, r2
  b 1b
5:
  add sp, #LOCALS
  vpop {d8-d15}
  pop {r4-r11, pc}
.endm

// Windows of at most eight vectors: a jump into a row of code for each.
.macro MULTIPLY name, requantize
  BEGIN \name
  adr.w r2, 3f
  mov r6, #VECTOR_CODE
  mls r2, r4, r6, r2
  orr r2, r2, #1
  str r2, [sp, #ENTRY]
  ldrd r5, r7, [r0, #WINDOWS + 8]
  ldrd r1, r3, [r0, #WINDOWS]
1:
  MULTIPLY_VECTOR vmladav.s8, ]
  ldr pc, [sp, #ENTRY]
  MULTIPLY_VECTOR vmladava.s8, , #112]
  MULTIPLY_VECTOR vmladava.s8, , #96]
  MULTIPLY_VECTOR vmladava.s8, , #80]
  MULTIPLY_VECTOR vmladava.s8, , #64]
  MULTIPLY_VECTOR vmladava.s8, , #48]
  MULTIPLY_VECTOR vmladava.s8, , #32]
  MULTIPLY_VECTOR vmladava.s8, , #16]
3:
  \requantize
  vstrb.16 q0, [r11, q4]
  NEXT
  .size \name, .-\name
.endm

  MULTIPLY cmsis_nn_delegate_multiply_vectors_least, REQUANTIZE_LEAST
  MULTIPLY cmsis_nn_delegate_multiply_vectors_any, REQUANTIZE_ANY

// Windows of two or more vectors: the first, and then a loop from the last to the second, entered where so many turns of
// four end with the second.
  BEGIN cmsis_nn_delegate_multiply_many_vectors
  str r11, [sp, #OUTPUT]
  lsl r2, r4, #4
  str r2, [sp, #BACK]
  add r2, r4, #3
  lsr r2, r2, #2
  str r2, [sp, #TURNS]
  rsb r4, r4, r2, lsl #2
  adr.w r2, 2f
  mov r6, #VECTOR_CODE
  mla r2, r4, r6, r2
  orr r2, r2, #1
  str r2, [sp, #ENTRY]
  ldrd r5, r7, [r0, #WINDOWS + 8]
  ldrd r1, r3, [r0, #WINDOWS]
1:
  str r11, [sp, #OUTPUT]
  MULTIPLY_VECTOR vmladav.s8, ]
  ldr r11, [sp, #BACK]
  add r1, r1, r11
  add r3, r3, r11
  add r5, r5, r11
  add r7, r7, r11
  ldr r11, [sp, #TURNS]
  ldr pc, [sp, #ENTRY]
2:
  MULTIPLY_VECTOR vmladava.s8, ], #-16
  MULTIPLY_VECTOR vmladava.s8, ], #-16
  MULTIPLY_VECTOR vmladava.s8, ], #-16
  MULTIPLY_VECTOR vmladava.s8, ], #-16
  subs r11, r11, #1
  bne 2b
  REQUANTIZE_ANY
  ldr r11, [sp, #OUTPUT]
  vstrb.16 q0, [r11, q4]
  NEXT
  .size cmsis_nn_delegate_multiply_many_vectors, .-cmsis_nn_delegate_multiply_many_vectors

  .section .text.cmsis_nn_delegate_copy_columns, "ax", %progbits
  .global cmsis_nn_delegate_copy_columns
  .type cmsis_nn_delegate_copy_columns, %function
  .thumb_func
  .balign 8
cmsis_nn_delegate_copy_columns:  // (to, from, columns, bytes, to_step, from_step)
  push {r4-r7, lr}
  ldrd r4, r5, [sp, #20]
  cmp r3, #16
  bhi 2f
  vctp.8 r3
  dls lr, r2
1:
  vpstt
  vldrbt.8 q0, [r1]
  vstrbt.8 q0, [r0]
  add r1, r1, r5
  add r0, r0, r4
  le lr, 1b
  pop {r4-r7, pc}
2:
  mov r6, r0
  mov r7, r1
  dlstp.8 lr, r3
3:
  vldrb.8 q0, [r7], #16
  vstrb.8 q0, [r6], #16
  letp lr, 3b
  add r1, r1, r5
  add r0, r0, r4
  subs r2, r2, #1
  bne 2b
  pop {r4-r7, pc}
  .size cmsis_nn_delegate_copy_columns, .-cmsis_nn_delegate_copy_columns

#endif
