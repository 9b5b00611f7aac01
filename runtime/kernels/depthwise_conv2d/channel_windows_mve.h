// The inner loops of channel_windows.h for int8 in assembly, for MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/channel_windows.h"
#include "runtime/kernels/common/channel_windows_members.h"
#include "runtime/kernels/common/vector_products_mve.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
void cmsis_nn_delegate_channel_windows(const portable::ChannelWindowsOf<std::int8_t>* row);
}

struct MveChannelWindows : MveVectorProducts {
  using Row = portable::ChannelWindowsOf<std::int8_t>;

  static void compute(const Row& row) { cmsis_nn_delegate_channel_windows(&row); }
};

}  // namespace cmsis_nn_delegate::tuned
