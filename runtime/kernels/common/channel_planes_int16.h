// channel_planes.h for inputs and results of int16, in plain C++. Assembly for an instruction set has the same functions
// (channel_planes_int16_dsp.h).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_planes.h"
#include "runtime/kernels/common/pair_products_int16.h"

namespace cmsis_nn_delegate::portable {

using PlaneRowsInt16 = PlaneRowsOf<std::int16_t>;

namespace channel_planes {

/// How a channel is requantized, which follows from one byte: see requantization_int16.py in
/// aot/cmsis_nn_delegate/providers/tuned. Bits 0 to 4 are the shift; bit 5: the form is FLOOR, in one word.
struct PlaneScaleInt16 {
  PlaneScaleInt16(const std::int32_t* table, std::int32_t half_steps)
      : PlaneScaleInt16((table[2] >> 24) & 0xFF, table[4], half_steps) {}
  PlaneScaleInt16(std::int32_t byte, std::int32_t multiplier, std::int32_t /*half_steps*/)
      : floor_((byte & kFloor) != 0) {
    words_[0] = byte & 31;
    words_[1] = multiplier;
    words_[2] =
        wrapping_add(pair_products::shift_left(1, wrapping_sub(words_[0], 1)), floor_ ? 1 : 0);
  }

  std::int32_t requantize(std::int32_t sum) const {
    if (!floor_) {
      return pair_products_int16::Any::requantize(sum, words_);
    }
    const std::int32_t halves =
        pair_products::multiply_high(pair_products::shift_left(sum, 2), words_[1], words_[2], 0);
    const std::int32_t value = pair_products::shift_right(halves, words_[0]);
    return value < 0 ? 0 : pair_products_int16::saturate(value);
  }

 private:
  static constexpr std::int32_t kFloor = 1 << 5;

  std::int32_t words_[pair_products::kScales];  // shift, multiplier, correction
  bool floor_;
};

}  // namespace channel_planes

/// The functions for plain C++.
struct PlainChannelPlanesInt16 {
  using Element = std::int16_t;

  static void fill(const std::int16_t* row, std::int32_t* planes, const PlaneRow& p) {
    channel_planes::fill(row, planes, p, channel_planes::kChannels);
  }
  static void filter_stride1(const PlaneRowsInt16& rows) {
    channel_planes::filter<1, channel_planes::PlaneScaleInt16>(rows);
  }
  static void filter_stride2(const PlaneRowsInt16& rows) {
    channel_planes::filter<2, channel_planes::PlaneScaleInt16>(rows);
  }
};

}  // namespace cmsis_nn_delegate::portable
