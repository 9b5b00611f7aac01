// The taps of a convolution or pooling window that lie inside the input.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable {

/// The taps [begin, end) of one axis. Tap t reads position `origin + t * dilation`, which is in the
/// input. All three are 0 for a window that lies entirely in the padding: its real origin may be so
/// far away that an address computed from it overflows.
struct Taps {
  std::int32_t origin;
  std::int32_t begin;
  std::int32_t end;

  /// The taps for output position `out`. The window may begin in the padding before the input and
  /// end in the padding after it.
  static Taps of(std::int32_t out, std::int32_t stride, std::int32_t padding, std::int32_t dilation,
                 std::int32_t taps, std::int32_t input_size) {
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
    return result.begin < result.end ? result : Taps{0, 0, 0};
  }
};

}  // namespace cmsis_nn_delegate::portable
