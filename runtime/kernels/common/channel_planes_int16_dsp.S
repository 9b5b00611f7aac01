// The inner loops of runtime/kernels/common/channel_planes_int16.h for Armv7E-M and Armv8-M with DSP.
//
// Planes are those of int8, which are widened to int16 there. Planes and table are 4-byte aligned; pixels of the image
// need not be, so loads of words have to be allowed to be unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/channel_planes_loops_dsp.h"
#include "runtime/kernels/common/fill_planes_int16_dsp.h"

#define INPUTS_KEPT 1
#include "runtime/kernels/common/plane_scales_int16_dsp.h"

  .syntax unified
  .thumb

// void cmsis_nn_delegate_filter_planes_int16_stride1(   and _stride2
//     const PlaneRowsInt16* rows)   r0
//
// Register usage, layout and bounds are those of cmsis_nn_delegate_filter_planes_stride1: results take halves where those
// of int8 take bytes, and steps are in bytes for both. 5 words of the table are read for each channel; ReadsPast is 0.
//
// Cost, for two by two outputs of a channel, 36 products: 58 instructions with stride 1 and form FLOOR, 74 with ANY, 87
// with ANY and limits; with stride 2, 6 more.
  FILTER cmsis_nn_delegate_filter_planes_int16_stride1, SUMS1, KEEP1, CHANNEL_PLANES_CHANNEL1, COLUMN1, SCALE, \
         REQUANTIZE_FLOOR, REQUANTIZE_ANY, strh, 2
  FILTER cmsis_nn_delegate_filter_planes_int16_stride2, SUMS2, KEEP2, CHANNEL_PLANES_CHANNEL2, 2 * COLUMN2, SCALE, \
         REQUANTIZE_FLOOR, REQUANTIZE_ANY, strh, 2

// void cmsis_nn_delegate_fill_planes_int16(const int16_t* row, int32_t* planes, const PlaneRow* p)
  FILL_PLANES cmsis_nn_delegate_fill_planes_int16, 1

#endif
