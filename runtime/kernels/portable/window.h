// The taps of a convolution or pooling window that lie inside the input.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate {
namespace portable {

/// Taps [begin, end) of one axis; tap t reads position `origin + t * dilation`.
struct Taps {
  std::int32_t origin;
  std::int32_t begin;
  std::int32_t end;

  /// For output position `out`. The window may begin in the padding before the input and
  /// end in that behind it.
  static Taps of(std::int32_t out, std::int32_t stride, std::int32_t padding,
                 std::int32_t dilation, std::int32_t taps, std::int32_t input_size) {
    const std::int32_t origin = out * stride - padding;
    Taps result{origin, 0, taps};
    if (origin < 0) {
      result.begin = dilation == 1 ? -origin : (-origin + dilation - 1) / dilation;
    }
    const std::int32_t room = input_size - origin;  // positions from the origin to the end
    const std::int32_t fitting =
        room <= 0 ? 0 : (dilation == 1 ? room : (room + dilation - 1) / dilation);
    if (fitting < taps) {
      result.end = fitting;
    }
    if (result.begin > result.end) {
      result.begin = result.end;
    }
    return result;
  }
};

}  // namespace portable
}  // namespace cmsis_nn_delegate
