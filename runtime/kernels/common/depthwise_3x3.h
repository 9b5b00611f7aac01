// What the kernels for depthwise convolutions of 3 x 3 taps have in common.
#pragma once

#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable::depthwise_3x3 {

inline constexpr std::int32_t kTaps = 3;  // of a row and of a column of a filter

/// Rows or columns of an image and of the output.
struct Axis {
  std::int32_t in;
  std::int32_t out;
  std::int32_t padding;
  std::int32_t in_step;  // from an input to the next one, in elements
  std::int32_t out_step;
};

/// The axes of a call: `x` along a row of the kernel, which is one of the image, or a column of it.
struct Axes {
  Axis x;
  Axis y;

  template <typename Args>
  explicit Axes(const Args& args) {
    const payload::PackedDims& in = args.input_dims;
    const payload::PackedDims& out = args.output_dims;
    const payload::PackedTile& padding = args.params.padding;
    const bool columns_for_rows = args.along_height != 0;
    (columns_for_rows ? y : x) = {in.w, out.w, padding.w, in.c, out.c};
    (columns_for_rows ? x : y) = {in.h, out.h, padding.h, in.w * in.c, out.w * out.c};
  }
};

/// Returns whether the call has one channel a group, 3 x 3 taps side by side, and stride 1 or 2.
template <typename Args>
bool accepts(const Args& a) {
  const auto& p = a.params;
  constexpr std::int32_t kMostOutputs =
      1 << 20;  // along an axis, so that the scratch memory has a size
  return a.filter_dims.c == 1 && a.input_dims.c == a.output_dims.c && a.filter_dims.h == kTaps &&
         a.filter_dims.w == kTaps && p.dilation.h == 1 && p.dilation.w == 1 &&
         p.stride.h == p.stride.w && p.stride.h <= 2 && a.output_dims.h <= kMostOutputs &&
         a.output_dims.w <= kMostOutputs;
}

/// Returns whether outputs that start where the inputs do lie on inputs that are no longer read, where whole rows are
/// computed one below the other, as overlaps_exactly() in aot/cmsis_nn_delegate/providers/tuned/plane_order.py explains.
template <typename Args>
bool rows_overlap(const Args& a, std::int32_t distance) {
  const payload::PackedTile& padding = a.params.padding;
  const payload::PackedDims& in = a.input_dims;
  const payload::PackedDims& out = a.output_dims;
  if (distance != 0 || out.h > in.h || out.w > in.w) {
    return false;
  }
  return a.along_height != 0 ? a.params.stride.h == 1 && out.w == in.w && padding.w <= 2
                             : padding.h <= 2;
}

}  // namespace cmsis_nn_delegate::portable::depthwise_3x3
