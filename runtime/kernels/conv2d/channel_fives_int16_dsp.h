// The inner loops of channel_fives_int16.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_fives_members.h"
#include "runtime/kernels/common/channel_planes_members.h"
#include "runtime/kernels/conv2d/channel_fives_int16.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_fill_fives_int16(const std::int16_t* row, std::int32_t* planes,
                                        const portable::PlaneRow* p);
void cmsis_nn_delegate_filter_fives_int16_stride1(const portable::ChannelBandInt16* band);
void cmsis_nn_delegate_filter_fives_int16_stride2(const portable::ChannelBandInt16* band);
}

struct DspChannelFivesInt16 {
  using Element = std::int16_t;

  static void fill(const std::int16_t* row, std::int32_t* planes, const portable::PlaneRow& p) {
    cmsis_nn_delegate_fill_fives_int16(row, planes, &p);
  }
  static void filter_stride1(const portable::ChannelBandInt16& band) {
    cmsis_nn_delegate_filter_fives_int16_stride1(&band);
  }
  static void filter_stride2(const portable::ChannelBandInt16& band) {
    cmsis_nn_delegate_filter_fives_int16_stride2(&band);
  }
};

}  // namespace cmsis_nn_delegate::tuned
