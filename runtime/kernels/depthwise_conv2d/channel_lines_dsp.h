// The inner loops of channel_lines.h in assembly, for instruction sets with DSP and without MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_planes_dsp.h"
#include "runtime/kernels/depthwise_conv2d/channel_lines.h"
#include "runtime/kernels/depthwise_conv2d/channel_lines_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_filter_line(const portable::ChannelLine* line);
}

struct DspChannelLines {
  static void fill(const std::int8_t* row, std::int32_t* line, const portable::PlaneRow& p) {
    DspChannelPlanes::fill(row, line, p);
  }
  static void filter(const portable::ChannelLine& line) { cmsis_nn_delegate_filter_line(&line); }
};

}  // namespace cmsis_nn_delegate::tuned
