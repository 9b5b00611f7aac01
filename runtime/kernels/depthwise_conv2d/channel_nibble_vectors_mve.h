// The inner loops of channel_nibble_vectors.h in assembly, for MVE.
#pragma once

#include "runtime/kernels/common/vector_products_mve.h"
#include "runtime/kernels/depthwise_conv2d/channel_nibble_vectors.h"
#include "runtime/kernels/depthwise_conv2d/channel_vectors_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_channel_nibble_vectors(const portable::ChannelVectorRow* row);
}

struct MveChannelNibbleVectors : MveVectorProducts {
  using Row = portable::ChannelVectorRow;

  static void compute(const portable::ChannelVectorRow& row) {
    cmsis_nn_delegate_channel_nibble_vectors(&row);
  }
};

static_assert(portable::channel_nibble_vectors::kBlockBytes == 104 &&
                  portable::vector_products::kShiftBits == 6,
              "assembly has these sizes in its instructions");

}  // namespace cmsis_nn_delegate::tuned
