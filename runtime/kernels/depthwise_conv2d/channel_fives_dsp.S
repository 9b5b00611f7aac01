// The inner loops of runtime/kernels/common/channel_fives.h for Armv7E-M and Armv8-M with DSP.
//
// Planes and table are 4-byte aligned; pixels of the image need not be.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/fill_planes_dsp.h"
#include "runtime/kernels/common/channel_fives_loops_dsp.h"
#include "runtime/kernels/common/plane_scales_dsp.h"

  .syntax unified
  .thumb

  FILTER_FIVES cmsis_nn_delegate_filter_fives_stride1, 1
  FILTER_FIVES cmsis_nn_delegate_filter_fives_stride2, 2

// void cmsis_nn_delegate_fill_fives(const int8_t* row, int32_t* planes, const PlaneRow* p)
  FILL_PLANES cmsis_nn_delegate_fill_fives, 0

#endif
