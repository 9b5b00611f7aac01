#include "runtime/kernels/avg_pool2d/channel_means_tuned.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_avg_pool2d_channels(const void* args, const Bases& bases) {
  return find_channel_means<false>(args, bases);
}

constexpr KernelOf<payload::Opcode::kAvgPool2dChannels> kAvgPool2dChannels =
    portable::avg_pool2d_channels_kernel(run_avg_pool2d_channels);

}  // namespace cmsis_nn_delegate::tuned
