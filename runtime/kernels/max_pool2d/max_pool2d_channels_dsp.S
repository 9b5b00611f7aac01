// Maxima of windows for Armv7E-M and Armv8-M with DSP (runtime/kernels/common/pooled_windows_loops_dsp.h).
//
// Inputs and output need not be aligned, so accesses to words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/pooled_windows_loops_dsp.h"

// Maxima of `bits` bits lie in r4, or in r4-r7. They begin with the lower limit, so that only the upper one is left to
// apply, where there is one. SSUB8 and SSUB16 set a flag for each
// byte of a difference that is not negative, and SEL takes the first byte where it is set.
.macro START_MAXIMA words
  ldr r4, [r10, #POOLED_LEAST]
  .if \words == 4
  mov r5, r4
  mov r6, r4
  mov r7, r4
  .endif
.endm

.macro TAKE_WORD bits, maxima, offset
  ldr r8, [r0, #\offset]
  ssub\bits r9, \maxima, r8
  sel \maxima, \maxima, r8
.endm

.macro TAKE_MAXIMA bits, words
  TAKE_WORD \bits, r4, 0
  .if \words == 4
  TAKE_WORD \bits, r5, 4
  TAKE_WORD \bits, r6, 8
  TAKE_WORD \bits, r7, 12
  .endif
.endm

.macro LIMIT_WORD bits, maxima
  ssub\bits r9, r8, \maxima
  sel \maxima, \maxima, r8
.endm

.macro GIVE_MAXIMA bits, words
  .if \words == 4
  ldr r9, [r10, #POOLED_LIMITED]
  cmp r9, #0
  beq 9f
  .endif
  ldr r8, [r10, #POOLED_MOST]
  LIMIT_WORD \bits, r4
  .if \words == 4
  LIMIT_WORD \bits, r5
  LIMIT_WORD \bits, r6
  LIMIT_WORD \bits, r7
9:
  .endif
  str r4, [r12]
  .if \words == 4
  str r5, [r12, #4]
  str r6, [r12, #8]
  str r7, [r12, #12]
  .endif
.endm

// void cmsis_nn_delegate_max_pool_words_dsp(const PooledWindows* windows, int32_t first)
// void cmsis_nn_delegate_max_pool_word_dsp(const PooledWindows* windows, int32_t first)
// void cmsis_nn_delegate_max_pool_words_int16_dsp(const PooledWindows* windows, int32_t first)
// void cmsis_nn_delegate_max_pool_word_int16_dsp(const PooledWindows* windows, int32_t first)
//
// Register usage: r4-r7 maxima, r8 inputs or the upper limit, r9 differences; the others as in POOL_WINDOWS.
//
// Cost: 16 bytes of a window take 18 instructions, of each of its rows 5 and of each pixel 15, or with two columns
// 19, 2 and 13; limits take 9 more. 4 bytes take 12, 5 and 6, or 13, 2 and 4.
//
// Bounds: read and write 16, or 4, bytes from `first` on of each pixel of the windows and of their results; the caller
// says that there are as many. There is no table.
  FUNCTION cmsis_nn_delegate_max_pool_words_dsp
  POOL_WINDOWS "START_MAXIMA 4", "TAKE_MAXIMA 8, 4", "GIVE_MAXIMA 8, 4"
  .size cmsis_nn_delegate_max_pool_words_dsp, .-cmsis_nn_delegate_max_pool_words_dsp

  FUNCTION cmsis_nn_delegate_max_pool_word_dsp
  POOL_WINDOWS "START_MAXIMA 1", "TAKE_MAXIMA 8, 1", "GIVE_MAXIMA 8, 1"
  .size cmsis_nn_delegate_max_pool_word_dsp, .-cmsis_nn_delegate_max_pool_word_dsp

  FUNCTION cmsis_nn_delegate_max_pool_words_int16_dsp
  POOL_WINDOWS "START_MAXIMA 4", "TAKE_MAXIMA 16, 4", "GIVE_MAXIMA 16, 4"
  .size cmsis_nn_delegate_max_pool_words_int16_dsp, .-cmsis_nn_delegate_max_pool_words_int16_dsp

  FUNCTION cmsis_nn_delegate_max_pool_word_int16_dsp
  POOL_WINDOWS "START_MAXIMA 1", "TAKE_MAXIMA 16, 1", "GIVE_MAXIMA 16, 1"
  .size cmsis_nn_delegate_max_pool_word_int16_dsp, .-cmsis_nn_delegate_max_pool_word_int16_dsp

#endif
