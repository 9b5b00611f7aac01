// The inner loops of maximum pooling that an image has.
#pragma once

#include <type_traits>

#include "runtime/kernels/common/pooled_windows_members.h"
#include "runtime/kernels/max_pool2d/max_pool2d_channels.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

extern "C" {
using FindMaxima = void(const portable::PooledWindows* windows, std::int32_t first);
FindMaxima cmsis_nn_delegate_max_pool_words_dsp;
FindMaxima cmsis_nn_delegate_max_pool_word_dsp;
FindMaxima cmsis_nn_delegate_max_pool_words_int16_dsp;
FindMaxima cmsis_nn_delegate_max_pool_word_int16_dsp;
FindMaxima cmsis_nn_delegate_max_pool_32_mve;
FindMaxima cmsis_nn_delegate_max_pool_rest_mve;
FindMaxima cmsis_nn_delegate_max_pool_32_int16_mve;
FindMaxima cmsis_nn_delegate_max_pool_rest_int16_mve;
}

template <typename Element>
struct DspMaxima {
  static void find(const portable::PooledWindows& windows) {
    constexpr bool kInt8 = std::is_same_v<Element, std::int8_t>;
    constexpr FindMaxima* kWords =
        kInt8 ? cmsis_nn_delegate_max_pool_words_dsp : cmsis_nn_delegate_max_pool_words_int16_dsp;
    constexpr FindMaxima* kWord =
        kInt8 ? cmsis_nn_delegate_max_pool_word_dsp : cmsis_nn_delegate_max_pool_word_int16_dsp;
    std::int32_t first = 0;
    for (; first + 16 <= windows.pixel; first += 16) {
      kWords(&windows, first);
    }
    for (; first < windows.pixel; first += 4) {
      kWord(&windows, portable::word_at(windows, first));
    }
  }
};

template <typename Element>
struct MveMaxima {
  static void find(const portable::PooledWindows& windows) {
    constexpr bool kInt8 = std::is_same_v<Element, std::int8_t>;
    constexpr FindMaxima* kVectors =
        kInt8 ? cmsis_nn_delegate_max_pool_32_mve : cmsis_nn_delegate_max_pool_32_int16_mve;
    constexpr FindMaxima* kRest =
        kInt8 ? cmsis_nn_delegate_max_pool_rest_mve : cmsis_nn_delegate_max_pool_rest_int16_mve;
    std::int32_t first = 0;
    for (; first + 32 <= windows.pixel; first += 32) {
      kVectors(&windows, first);
    }
    for (; first < windows.pixel; first += 16) {
      kRest(&windows, first);
    }
  }
};

/// Computes calls by the assembly that `Found` calls.
template <typename Element, typename Args, typename Found>
struct MaximaInAssembly {
  static Error run(const void* args, const Bases& bases) {
    portable::pool_windows<Element>(*static_cast<const Args*>(args), bases, Found::find);
    return Error::Ok;
  }
};

template <typename Element, typename Args>
using Maxima = DspOr<MaximaInAssembly<Element, Args, DspMaxima<Element>>,
                     MveOr<MaximaInAssembly<Element, Args, MveMaxima<Element>>,
                           portable::PlainMaxima<Element, Args>>>;

}  // namespace cmsis_nn_delegate::tuned
