// The inner loops of channel_vectors_int16.h in assembly, for MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/vector_products_mve.h"
#include "runtime/kernels/conv2d/channel_vectors_int16.h"
#include "runtime/kernels/conv2d/channel_vectors_int16_members.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_channel_vectors_int16(const portable::ChannelVectorRowInt16* row);
}

struct MveChannelVectorsInt16 : MveColumns {
  using Element = std::int16_t;
  using Row = portable::ChannelVectorRowInt16;

  static void compute(const portable::ChannelVectorRowInt16& row) {
    cmsis_nn_delegate_channel_vectors_int16(&row);
  }
};

}  // namespace cmsis_nn_delegate::tuned
