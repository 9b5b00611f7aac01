// Average pooling for the tuned kernel and its twin in plain C++.
#pragma once

#include "runtime/kernels/avg_pool2d/average_pooling.h"
#include "runtime/kernels/common/pooled_windows.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// The most pixels of a window: as many int8 have a sum of 16 bits.
inline constexpr std::int32_t kMostAveraged = 256;

/// Computes one call in plain C++.
inline Error compute_avg_pool2d_channels(const void* args, const Bases& bases) {
  pool_averages<std::int8_t>(*static_cast<const payload::AvgPool2dChannelsArgs*>(args), bases);
  return Error::Ok;
}

inline bool avg_pool2d_channels_accepts(const void* args) {
  const auto& a = *static_cast<const payload::AvgPool2dChannelsArgs*>(args);
  return a.input_dims.c >= kLeastPooledChannels && a.filter_dims.h <= kMostAveraged &&
         a.filter_dims.w <= kMostAveraged && a.filter_dims.h * a.filter_dims.w <= kMostAveraged;
}

/// Returns the kernel whose `run` computes a call.
constexpr Kernel avg_pool2d_channels_kernel(Kernel::Run run) {
  return Kernel(operators::kAvgPool2dChannels, run)
      .limited_to(avg_pool2d_channels_accepts)
      .only_of(payload::ProviderId::kTuned);
}

inline bool avg_pool2d_channels_whole_accepts(const void* args) {
  return avg_pool2d_channels_accepts(args) &&
         is_whole(*static_cast<const payload::AvgPool2dChannelsArgs*>(args));
}

/// The same for calls whose window is the whole image.
constexpr Kernel avg_pool2d_channels_whole_kernel(Kernel::Run run) {
  return Kernel(operators::kAvgPool2dChannels, run)
      .limited_to(avg_pool2d_channels_whole_accepts)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
