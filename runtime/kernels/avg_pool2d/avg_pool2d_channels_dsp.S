// Means of windows for Armv7E-M and Armv8-M with DSP (runtime/kernels/common/pooled_windows_loops_dsp.h).
//
// SXTAB16 widens every second byte of a word and adds it to sums of 16 bits. SMLAWB and SMLAWT multiply a sum by the
// reciprocal, shift it and add the half, so that bits 8 to 15 are the mean (reciprocal.h).
// Inputs and output need not be aligned, so accesses to words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/pooled_windows_loops_dsp.h"

// Sums of channels 0 and 2 lie in r4, those of 1 and 3 in r5, and those of four more in r6 and r7.
.macro START_SUMS words
  movs r4, #0
  movs r5, #0
  .if \words == 2
  movs r6, #0
  movs r7, #0
  .endif
.endm

.macro TAKE_SUMS words
  ldr r8, [r0]
  .if \words == 2
  ldr r9, [r0, #4]
  .endif
  sxtab16 r4, r4, r8
  sxtab16 r5, r5, r8, ror #8
  .if \words == 2
  sxtab16 r6, r6, r9
  sxtab16 r7, r7, r9, ror #8
  .endif
.endm

// The means of four sums, in `even`. The reciprocal lies in r2, the half in r3; r0 and r8 are changed.
.macro DIVIDE even, odd
  smlawb r0, r2, \even, r3
  smlawt \even, r2, \even, r3
  smlawb r8, r2, \odd, r3
  smlawt \odd, r2, \odd, r3
  pkhbt \even, r0, \even, lsl #16
  pkhbt \odd, r8, \odd, lsl #16
  uxtb16 \even, \even, ror #8
  uxtb16 \odd, \odd, ror #8
  orr \even, \even, \odd, lsl #8
.endm

// Limits four bytes: SSUB8 sets a flag for each byte whose difference is not negative, and SEL takes the first byte
// where it is set. The limits lie in r2 and r3; r0 is changed.
.macro LIMIT results
  ssub8 r0, \results, r2
  sel \results, \results, r2
  ssub8 r0, r3, \results
  sel \results, \results, r3
.endm

.macro GIVE_MEANS words
  NEIGHBOURS POOLED_LEAST, POOLED_MOST
  ldr r2, [r10, #POOLED_RECIPROCAL]
  movs r3, #128
  ldr r9, [r10, #POOLED_LIMITED]
  DIVIDE r4, r5
  .if \words == 2
  DIVIDE r6, r7
  .endif
  cmp r9, #0
  beq 9f
  ldrd r2, r3, [r10, #POOLED_LEAST]
  LIMIT r4
  .if \words == 2
  LIMIT r6
  .endif
9:
  str r4, [r12]
  .if \words == 2
  str r6, [r12, #4]
  .endif
.endm

// void cmsis_nn_delegate_avg_pool_words_dsp(const PooledWindows* windows, int32_t first)
// void cmsis_nn_delegate_avg_pool_word_dsp(const PooledWindows* windows, int32_t first)
//
// Register usage: r4-r7 sums and means, r8 r9 inputs; in the end r2 reciprocal or least, r3 half or most, r0 r8
// products, r9 whether there are limits; the others as in POOL_WINDOWS.
//
// Cost: 8 channels of a window take 36 instructions, of each of its rows 5 and of each pixel 9, or with two columns
// 37, 2 and 7; 4 channels take 24, 5 and 6, or 25, 2 and 4. Limits take 9 and 5 more.
//
// Bounds: read and write 8, or 4, channels from `first` on of each pixel of the windows and of their results; the
// caller says that there are as many. A sum of 256 int8 has 16 bits. There is no table.
  FUNCTION cmsis_nn_delegate_avg_pool_words_dsp
  POOL_WINDOWS "START_SUMS 2", "TAKE_SUMS 2", "GIVE_MEANS 2"
  .size cmsis_nn_delegate_avg_pool_words_dsp, .-cmsis_nn_delegate_avg_pool_words_dsp

  FUNCTION cmsis_nn_delegate_avg_pool_word_dsp
  POOL_WINDOWS "START_SUMS 1", "TAKE_SUMS 1", "GIVE_MEANS 1"
  .size cmsis_nn_delegate_avg_pool_word_dsp, .-cmsis_nn_delegate_avg_pool_word_dsp

#endif
