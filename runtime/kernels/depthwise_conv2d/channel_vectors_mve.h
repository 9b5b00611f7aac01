// The inner loops of channel_vectors.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/common/vector_products_mve.h"
#include "runtime/kernels/depthwise_conv2d/channel_vectors.h"
#include "runtime/kernels/depthwise_conv2d/channel_vectors_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_channel_vectors(const portable::ChannelVectorRow* row);
}

struct MveChannelVectors : MveVectorProducts {
  using Row = portable::ChannelVectorRow;

  static void compute(const portable::ChannelVectorRow& row) {
    cmsis_nn_delegate_channel_vectors(&row);
  }
};

}  // namespace cmsis_nn_delegate::tuned
