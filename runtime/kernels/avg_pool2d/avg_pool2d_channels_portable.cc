#include "runtime/kernels/avg_pool2d/avg_pool2d_channels.h"

namespace cmsis_nn_delegate::portable {

Error run_avg_pool2d_channels(const void* args, const Bases& bases) {
  return compute_avg_pool2d_channels(args, bases);
}

constexpr KernelOf<payload::Opcode::kAvgPool2dChannels> kAvgPool2dChannels =
    avg_pool2d_channels_kernel(run_avg_pool2d_channels);

}  // namespace cmsis_nn_delegate::portable
