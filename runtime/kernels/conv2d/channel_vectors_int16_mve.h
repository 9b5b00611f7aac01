// The inner loops of channel_windows.h for int16 in assembly, for MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_windows.h"
#include "runtime/kernels/common/channel_windows_members.h"
#include "runtime/kernels/common/vector_products_mve.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_channel_vectors_int16(const portable::ChannelWindowsOf<std::int16_t>* row);
}

struct MveChannelVectorsInt16 : MveColumns {
  using Element = std::int16_t;
  using Row = portable::ChannelWindowsOf<std::int16_t>;

  static void compute(const portable::ChannelWindowsOf<std::int16_t>& row) {
    cmsis_nn_delegate_channel_vectors_int16(&row);
  }
};

}  // namespace cmsis_nn_delegate::tuned
