#include "runtime/kernels/max_pool2d/max_pool2d_channels.h"

namespace cmsis_nn_delegate::portable {

Error run_max_pool2d_channels_int16(const void* args, const Bases& bases) {
  return PlainMaxima<std::int16_t, payload::MaxPool2dChannelsInt16Args>::run(args, bases);
}

constexpr KernelOf<payload::Opcode::kMaxPool2dChannelsInt16> kMaxPool2dChannelsInt16 =
    max_pool2d_channels_int16_kernel(run_max_pool2d_channels_int16);

}  // namespace cmsis_nn_delegate::portable
