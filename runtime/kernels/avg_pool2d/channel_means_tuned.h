// The inner loops of avg_pool2d_channels.
#pragma once

#include <cstdint>

#include "runtime/kernels/avg_pool2d/avg_pool2d_channels.h"
#include "runtime/kernels/common/pooled_windows_members.h"
#include "runtime/kernels/common/reciprocal.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

extern "C" void cmsis_nn_delegate_avg_pool_words_dsp(const portable::PooledWindows* windows,
                                                     std::int32_t first);
extern "C" void cmsis_nn_delegate_avg_pool_word_dsp(const portable::PooledWindows* windows,
                                                    std::int32_t first);
extern "C" void cmsis_nn_delegate_avg_pool_32_mve(const portable::PooledWindows* windows,
                                                  std::int32_t first);
extern "C" void cmsis_nn_delegate_avg_pool_rest_mve(const portable::PooledWindows* windows,
                                                    std::int32_t first);

// Small code has the loop for the last channels alone, for all of them.

struct DspMeans {
  static void find(const portable::PooledWindows& windows) {
    std::int32_t first = 0;
#ifndef __OPTIMIZE_SIZE__
    for (; first + 8 <= windows.pixel; first += 8) {
      cmsis_nn_delegate_avg_pool_words_dsp(&windows, first);
    }
#endif
    for (; first < windows.pixel; first += 4) {
      cmsis_nn_delegate_avg_pool_word_dsp(&windows, portable::word_at(windows, first));
    }
  }
};

struct MveMeans {
  static void find(const portable::PooledWindows& windows) {
    std::int32_t first = 0;
#ifndef __OPTIMIZE_SIZE__
    for (; first + 32 <= windows.pixel; first += 32) {
      cmsis_nn_delegate_avg_pool_32_mve(&windows, first);
    }
#endif
    for (; first < windows.pixel; first += 8) {
      cmsis_nn_delegate_avg_pool_rest_mve(&windows, first);
    }
  }
};

template <typename Means, bool kWhole>
struct ChannelMeans {
  static Error run(const void* args, const Bases& bases) {
    const auto& a = *static_cast<const payload::AvgPool2dChannelsArgs*>(args);
    const auto find = [](portable::PooledWindows& windows) {
      windows.reciprocal = portable::reciprocal_of(windows.rows * windows.columns);
      Means::find(windows);
    };
    if constexpr (kWhole) {
      portable::pool_whole<std::int8_t>(a, bases, find);
    } else {
      portable::pool_windows<std::int8_t>(a, bases, find);
    }
    return Error::Ok;
  }
};

struct PlainChannelMeans {
  static Error run(const void* args, const Bases& bases) {
    return portable::compute_avg_pool2d_channels(args, bases);
  }
};

/// Computes one call, with `kWhole` one of which portable::is_whole() is true.
template <bool kWhole>
Error find_channel_means(const void* args, const Bases& bases) {
  return DspOr<ChannelMeans<DspMeans, kWhole>,
               MveOr<ChannelMeans<MveMeans, kWhole>, PlainChannelMeans>>::run(args, bases);
}

}  // namespace cmsis_nn_delegate::tuned
