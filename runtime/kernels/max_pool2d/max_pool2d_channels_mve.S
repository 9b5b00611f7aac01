// Maxima of windows for MVE (runtime/kernels/common/pooled_windows_loops_mve.h).
#if defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE

#include "runtime/kernels/common/pooled_windows_loops_mve.h"

// Maxima of `bits` bits lie in q2 and q3. They begin with the lower limit, so that only the upper one is left to apply.
.macro PREPARE_MAXIMA
  ldr r9, [r10, #POOLED_LEAST]
  vdup.32 q4, r9
  ldr r9, [r10, #POOLED_MOST]
  vdup.32 q5, r9
.endm

.macro START_32
  vmov q2, q4
  vmov q3, q4
.endm

.macro TAKE_32 bits
  vldrb.8 q0, [r0]
  vldrb.8 q1, [r0, #16]
  vmax.s\bits q2, q2, q0
  vmax.s\bits q3, q3, q1
.endm

.macro GIVE_32 bits
  vmin.s\bits q2, q2, q5
  vmin.s\bits q3, q3, q5
  vstrb.8 q2, [r5]
  vstrb.8 q3, [r5, #16]
.endm

// The same for the bytes that are left, at most 16.
.macro PREPARE_REST
  vctp.8 r0
  PREPARE_MAXIMA
.endm

.macro START_REST
  vmov q2, q4
.endm

.macro TAKE_REST bits
  vpst
  vldrbt.8 q0, [r0]
  vmax.s\bits q2, q2, q0
.endm

.macro GIVE_REST bits
  vmin.s\bits q2, q2, q5
  vpst
  vstrbt.8 q2, [r5]
.endm

// void cmsis_nn_delegate_max_pool_32_mve(const PooledWindows* windows, int32_t first)
// void cmsis_nn_delegate_max_pool_rest_mve(const PooledWindows* windows, int32_t first)
// void cmsis_nn_delegate_max_pool_32_int16_mve(const PooledWindows* windows, int32_t first)
// void cmsis_nn_delegate_max_pool_rest_int16_mve(const PooledWindows* windows, int32_t first)
//
// Register usage: q0 q1 inputs, q2 q3 maxima, q4 q5 limits, r9 while they are loaded; the others as in POOL_WINDOWS.
//
// Cost: 32 bytes of a window take 12 instructions, of each of its rows 4 and of each pixel 6, or with two columns 12, 1
// and 5; 16 and fewer take 10, 4 and 5, or 10, 1 and 4.
//
// Bounds: read and write 32 bytes from `first` on of each pixel of the windows and of their results, of which the
// caller says that there are as many; or those that there are, at most 16, with a predicate. There is no table.
  FUNCTION cmsis_nn_delegate_max_pool_32_mve
  POOL_WINDOWS PREPARE_MAXIMA, START_32, "TAKE_32 8", "GIVE_32 8"
  .size cmsis_nn_delegate_max_pool_32_mve, .-cmsis_nn_delegate_max_pool_32_mve

  FUNCTION cmsis_nn_delegate_max_pool_rest_mve
  POOL_WINDOWS PREPARE_REST, START_REST, "TAKE_REST 8", "GIVE_REST 8"
  .size cmsis_nn_delegate_max_pool_rest_mve, .-cmsis_nn_delegate_max_pool_rest_mve

  FUNCTION cmsis_nn_delegate_max_pool_32_int16_mve
  POOL_WINDOWS PREPARE_MAXIMA, START_32, "TAKE_32 16", "GIVE_32 16"
  .size cmsis_nn_delegate_max_pool_32_int16_mve, .-cmsis_nn_delegate_max_pool_32_int16_mve

  FUNCTION cmsis_nn_delegate_max_pool_rest_int16_mve
  POOL_WINDOWS PREPARE_REST, START_REST, "TAKE_REST 16", "GIVE_REST 16"
  .size cmsis_nn_delegate_max_pool_rest_int16_mve, .-cmsis_nn_delegate_max_pool_rest_int16_mve

#endif
