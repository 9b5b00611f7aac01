// Where the output of a convolution that computes window after window may overlap its input.
#pragma once

#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

/// An axis of a convolution; see window_order_distance().
struct WindowAxis {
  std::int32_t input;
  std::int32_t outputs;
  std::int32_t stride;
  std::int32_t padding;

  std::int32_t inside() const { return (padding + stride - 1) / stride; }
  std::int32_t limited(std::int32_t output) const {
    return output < 0 ? 0 : output < outputs ? output : outputs - 1;
  }
  /// The first position that a window reads; the input's end if it lies behind that.
  std::int32_t start(std::int32_t output) const {
    const std::int32_t at = output * stride - padding;
    return at < 0 ? 0 : at < input ? at : input;
  }
};

/// Returns how many elements before the input the output has to start, 0 or more, if all inputs of a
/// window are read before its outputs are written, and windows are taken row by row. The formula is
/// explained in aot/cmsis_nn_delegate/providers/tuned/window_order.py. Operands have at most 2^28 bytes, so
/// that nothing overflows.
template <typename Params>
std::int32_t window_order_distance(const Params& p, const payload::PackedDims& in,
                                   const payload::PackedDims& out) {
  const WindowAxis vertical = {in.h, out.h, p.stride.h, p.padding.h};
  const WindowAxis horizontal = {in.w, out.w, p.stride.w, p.padding.w};
  const std::int32_t inner = p.padding.h / p.stride.h;
  const std::int32_t lines[] = {
      0, inner - 1, inner, vertical.inside() - 1, vertical.inside(), out.h - 2, out.h - 1};
  const std::int32_t edges[] = {0, p.padding.w / p.stride.w, horizontal.inside(), out.w - 1};
  std::int32_t most = 0;
  std::int32_t before = -1;
  for (const std::int32_t line : lines) {
    const std::int32_t y = vertical.limited(line);
    if (y == before) {
      continue;  // as usual without padding
    }
    before = y;
    const std::int32_t row = vertical.start(y) * in.w;
    const std::int32_t next_row = vertical.start(y + 1) * in.w;
    for (const std::int32_t edge : edges) {
      const std::int32_t x = horizontal.limited(edge);
      std::int32_t first = row + horizontal.start(x);
      if (y + 1 < out.h && next_row < first) {
        first = next_row;
      }
      const std::int32_t ahead = (y * out.w + x) * out.c - first * in.c;
      most = ahead > most ? ahead : most;
    }
  }
  const std::int32_t growth = out.h * out.w * out.c - in.h * in.w * in.c;
  return most + (growth > 0 ? growth * (out.n - 1) : 0);
}

/// For kernels whose arguments have these names: Kernel::Overlaps.
template <typename Args, typename Element = std::int8_t>
bool overlaps_in_window_order(const void* args, std::int32_t distance) {
  const auto& a = *static_cast<const Args*>(args);
  return distance >= static_cast<std::int32_t>(sizeof(Element)) *
                         window_order_distance(a.params, a.input_dims, a.output_dims);
}

}  // namespace cmsis_nn_delegate::portable
