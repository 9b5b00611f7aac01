#include "runtime/kernels/max_pool2d/max_pool2d_channels.h"

namespace cmsis_nn_delegate::portable {

Error run_max_pool2d_channels(const void* args, const Bases& bases) {
  return PlainMaxima<std::int8_t, payload::MaxPool2dChannelsArgs>::run(args, bases);
}

constexpr KernelOf<payload::Opcode::kMaxPool2dChannels> kMaxPool2dChannels =
    max_pool2d_channels_kernel(run_max_pool2d_channels);

}  // namespace cmsis_nn_delegate::portable
