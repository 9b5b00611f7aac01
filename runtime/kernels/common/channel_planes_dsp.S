// The inner loops of runtime/kernels/common/channel_planes.h for Armv7E-M and Armv8-M with DSP.
//
// Planes and table are 4-byte aligned; pixels of the image need not be, so loads of words have to be allowed to be
// unaligned.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP && !(defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE)

#include "runtime/kernels/common/channel_planes_loops_dsp.h"
#include "runtime/kernels/common/fill_planes_dsp.h"
#include "runtime/kernels/common/plane_scales_dsp.h"

  .syntax unified
  .thumb

// void cmsis_nn_delegate_filter_planes_stride1(   and _stride2
//     const PlaneRows* rows)   r0
//
// Register usage
//   Columns   r0
//   Outputs   r1
//   Inputs    r2 r3              parameters where results are computed and stored
//   Weights   r4 r6 r8 (0, 1)    of the first, second and third row of the filter
//             r5 r7 r9 (1, 2)
//   Sums      r10 r11            first row of outputs, left and right
//             r12 lr             second row
//   All else lies on the stack, where PlaneRows is copied to.
//
// Layout: see channel_planes.h. A word of a plane has two neighbouring columns of a row, the 4 or 5 rows of a channel lie
// together, then come the channels of the column, then the next column.
//
// Cost, for two by two outputs of a channel, 36 products: 54 instructions with stride 1 and form FLOOR, 66 with ANY, 77
// with ANY and limits; with stride 2, 6 more.
//
// Bounds: pairs begin in columns 0 to `pairs_bytes`, and where `last` is set one more begins there. Each reads its own
// word of a row and the next one, or the next two with stride 2, which are the (pairs + last) * stride + 1 words that
// depthwise_conv2d_planes_scratch_bytes() has counted; rows that are moved to the front lie in the same words. Without a
// second row of outputs its inputs are read all the same, from planes that are there, and its results are overwritten:
// steps of 0 put them where those of the first row go, which are stored last, and the same is true of the right one of
// a single last output. 5 words of the table are read for each of `channels`, as many as it has; ReadsPast is 0.
  FILTER cmsis_nn_delegate_filter_planes_stride1, SUMS1, KEEP1, CHANNEL_PLANES_CHANNEL1, COLUMN1, SCALE, REQUANTIZE_FLOOR, \
         REQUANTIZE_ANY, strb, 1
  FILTER cmsis_nn_delegate_filter_planes_stride2, SUMS2, KEEP2, CHANNEL_PLANES_CHANNEL2, 2 * COLUMN2, SCALE, REQUANTIZE_FLOOR, \
         REQUANTIZE_ANY, strb, 1

// void cmsis_nn_delegate_fill_planes(const int8_t* row, int32_t* planes, const PlaneRow* p)
  FILL_PLANES cmsis_nn_delegate_fill_planes, 1

#endif
