// The inner loops of runtime/kernels/conv2d/channel_fives_int16.h for Armv7E-M and Armv8-M with DSP.
//
// Planes are those of int8, which are widened to int16 there. Planes and table are 4-byte aligned; pixels of the image
// need not be, so loads of words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/fill_planes_int16_dsp.h"
#include "runtime/kernels/common/channel_fives_loops_dsp.h"

#define INPUTS_KEPT 0
#include "runtime/kernels/common/plane_scales_int16_dsp.h"

  .syntax unified
  .thumb

// void cmsis_nn_delegate_filter_fives_int16_stride1(   and _stride2
//     const ChannelBandInt16* band)   r0
//
// Register usage, layout and bounds are those of cmsis_nn_delegate_filter_fives_stride1. Results take halves where those
// of int8 take bytes, and steps are in bytes for both. Form FLOOR is that of channels whose
// sums, bias included, have less than 30 bits.
//
// Cost, for four outputs of a channel with form FLOOR: 37 instructions, and 16 for each row of the filter. ANY takes 14 more,
// and 13 more with limits.
  FILTER_FIVES cmsis_nn_delegate_filter_fives_int16_stride1, 1, strh, 2
  FILTER_FIVES cmsis_nn_delegate_filter_fives_int16_stride2, 2, strh, 2

// void cmsis_nn_delegate_fill_fives_int16(const int16_t* row, int32_t* planes, const PlaneRow* p)
  FILL_PLANES cmsis_nn_delegate_fill_fives_int16, 0

#endif
