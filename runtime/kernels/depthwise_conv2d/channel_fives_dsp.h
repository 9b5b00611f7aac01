// The inner loops of channel_fives.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_fives.h"
#include "runtime/kernels/common/channel_fives_members.h"
#include "runtime/kernels/common/channel_planes_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_fill_fives(const std::int8_t* row, std::int32_t* planes,
                                  const portable::PlaneRow* p);
void cmsis_nn_delegate_filter_fives_stride1(const portable::ChannelBand* band);
void cmsis_nn_delegate_filter_fives_stride2(const portable::ChannelBand* band);
}

struct DspChannelFives {
  using Element = std::int8_t;

  static void fill(const std::int8_t* row, std::int32_t* planes, const portable::PlaneRow& p) {
    cmsis_nn_delegate_fill_fives(row, planes, &p);
  }
  static void filter_stride1(const portable::ChannelBand& band) {
    cmsis_nn_delegate_filter_fives_stride1(&band);
  }
  static void filter_stride2(const portable::ChannelBand& band) {
    cmsis_nn_delegate_filter_fives_stride2(&band);
  }
};

}  // namespace cmsis_nn_delegate::tuned
