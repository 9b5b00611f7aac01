#include "runtime/kernels/max_pool2d/max_pool2d_channels.h"
#include "runtime/kernels/max_pool2d/maxima_tuned.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_max_pool2d_channels(const void* args, const Bases& bases) {
  return Maxima<std::int8_t, payload::MaxPool2dChannelsArgs>::run(args, bases);
}

constexpr KernelOf<payload::Opcode::kMaxPool2dChannels> kMaxPool2dChannels =
    portable::max_pool2d_channels_kernel(run_max_pool2d_channels);

}  // namespace cmsis_nn_delegate::tuned
