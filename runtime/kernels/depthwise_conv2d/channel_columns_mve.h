// The inner loops of channel_columns.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/depthwise_conv2d/channel_columns.h"
#include "runtime/kernels/depthwise_conv2d/channel_columns_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_advance_columns(const portable::ColumnRows* rows);
void cmsis_nn_delegate_channel_columns_stride1(const portable::ColumnBand* band);
void cmsis_nn_delegate_channel_columns_stride2(const portable::ColumnBand* band);
}

struct MveChannelColumns {
  static void advance(const portable::ColumnRows& rows) {
    cmsis_nn_delegate_advance_columns(&rows);
  }
  static void stride1(const portable::ColumnBand& band) {
    cmsis_nn_delegate_channel_columns_stride1(&band);
  }
  static void stride2(const portable::ColumnBand& band) {
    cmsis_nn_delegate_channel_columns_stride2(&band);
  }
};

}  // namespace cmsis_nn_delegate::tuned
