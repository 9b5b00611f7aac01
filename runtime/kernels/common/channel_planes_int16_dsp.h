// The inner loops of channel_planes_int16.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_planes_int16.h"
#include "runtime/kernels/common/channel_planes_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_fill_planes_int16(const std::int16_t* row, std::int32_t* planes,
                                         const portable::PlaneRow* p);
void cmsis_nn_delegate_filter_planes_int16_stride1(const portable::PlaneRowsInt16* rows);
void cmsis_nn_delegate_filter_planes_int16_stride2(const portable::PlaneRowsInt16* rows);
}

struct DspChannelPlanesInt16 {
  using Element = std::int16_t;

  static void fill(const std::int16_t* row, std::int32_t* planes, const portable::PlaneRow& p) {
    cmsis_nn_delegate_fill_planes_int16(row, planes, &p);
  }
  static void filter_stride1(const portable::PlaneRowsInt16& rows) {
    cmsis_nn_delegate_filter_planes_int16_stride1(&rows);
  }
  static void filter_stride2(const portable::PlaneRowsInt16& rows) {
    cmsis_nn_delegate_filter_planes_int16_stride2(&rows);
  }
};

}  // namespace cmsis_nn_delegate::tuned
