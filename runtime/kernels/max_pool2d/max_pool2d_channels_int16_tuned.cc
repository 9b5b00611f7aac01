#include "runtime/kernels/max_pool2d/max_pool2d_channels.h"
#include "runtime/kernels/max_pool2d/maxima_tuned.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_max_pool2d_channels_int16(const void* args, const Bases& bases) {
  return Maxima<std::int16_t, payload::MaxPool2dChannelsInt16Args>::run(args, bases);
}

constexpr KernelOf<payload::Opcode::kMaxPool2dChannelsInt16> kMaxPool2dChannelsInt16 =
    portable::max_pool2d_channels_int16_kernel(run_max_pool2d_channels_int16);

}  // namespace cmsis_nn_delegate::tuned
