// Maximum pooling for the tuned kernels and their twins in plain C++.
#pragma once

#include "runtime/kernels/common/pooled_windows.h"
#include "runtime/kernels/max_pool2d/maximum_pooling.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Computes calls of elements of type Element in plain C++; `Args` is their argument block.
template <typename Element, typename Args>
struct PlainMaxima {
  static Error run(const void* args, const Bases& bases) {
    pool_maxima<Element>(*static_cast<const Args*>(args), payload::Tile{1, 1}, bases);
    return Error::Ok;
  }
};

template <typename Args>
bool max_pool2d_channels_accepts(const void* args) {
  return static_cast<const Args*>(args)->input_dims.c >= kLeastPooledChannels;
}

/// Returns the kernel whose `run` computes calls of int8.
constexpr Kernel max_pool2d_channels_kernel(Kernel::Run run) {
  return Kernel(operators::kMaxPool2dChannels, run)
      .limited_to(max_pool2d_channels_accepts<payload::MaxPool2dChannelsArgs>)
      .only_of(payload::ProviderId::kTuned);
}

/// The same for int16.
constexpr Kernel max_pool2d_channels_int16_kernel(Kernel::Run run) {
  return Kernel(operators::kMaxPool2dChannelsInt16, run)
      .limited_to(max_pool2d_channels_accepts<payload::MaxPool2dChannelsInt16Args>)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
