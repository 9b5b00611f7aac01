// channel_fives.h for inputs and results of int16, in plain C++. Assembly for an instruction set has the same functions
// (channel_fives_int16_dsp.h).
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_fives.h"
#include "runtime/kernels/common/channel_planes_int16.h"

namespace cmsis_nn_delegate::portable {

using ChannelBandInt16 = ChannelBandOf<std::int16_t>;

/// The functions for plain C++.
struct PlainChannelFivesInt16 {
  using Element = std::int16_t;

  static void fill(const std::int16_t* row, std::int32_t* planes, const PlaneRow& p) {
    channel_fives::fill(row, planes, p, channel_fives::kChannels);
  }
  static void filter_stride1(const ChannelBandInt16& band) {
    channel_fives::filter<1, channel_planes::PlaneScaleInt16>(band);
  }
  static void filter_stride2(const ChannelBandInt16& band) {
    channel_fives::filter<2, channel_planes::PlaneScaleInt16>(band);
  }
};

}  // namespace cmsis_nn_delegate::portable
