// The inner loops of channel_planes.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_planes.h"
#include "runtime/kernels/common/channel_planes_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_fill_planes(const std::int8_t* row, std::int32_t* planes,
                                   const portable::PlaneRow* p);
void cmsis_nn_delegate_filter_planes_stride1(const portable::PlaneRows* rows);
void cmsis_nn_delegate_filter_planes_stride2(const portable::PlaneRows* rows);
}

struct DspChannelPlanes {
  using Element = std::int8_t;

  static void fill(const std::int8_t* row, std::int32_t* planes, const portable::PlaneRow& p) {
    cmsis_nn_delegate_fill_planes(row, planes, &p);
  }
  static void filter_stride1(const portable::PlaneRows& rows) {
    cmsis_nn_delegate_filter_planes_stride1(&rows);
  }
  static void filter_stride2(const portable::PlaneRows& rows) {
    cmsis_nn_delegate_filter_planes_stride2(&rows);
  }
};

}  // namespace cmsis_nn_delegate::tuned
