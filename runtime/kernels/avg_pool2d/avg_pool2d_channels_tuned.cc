#include "runtime/kernels/avg_pool2d/avg_pool2d_channels.h"
#include "runtime/kernels/avg_pool2d/reciprocal.h"
#include "runtime/kernels/common/pooled_windows_members.h"
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

namespace {

template <typename Means>
struct InAssembly {
  static Error run(const void* args, const Bases& bases) {
    portable::pool_windows<std::int8_t>(
        *static_cast<const payload::AvgPool2dChannelsArgs*>(args), bases,
        [](portable::PooledWindows& windows) {
          windows.reciprocal = portable::reciprocal_of(windows.rows * windows.columns);
          Means::find(windows);
        });
    return Error::Ok;
  }
};

struct DspMeans {
  static void find(const portable::PooledWindows& windows) {
    std::int32_t first = 0;
    for (; first + 8 <= windows.pixel; first += 8) {
      cmsis_nn_delegate_avg_pool_words_dsp(&windows, first);
    }
    for (; first < windows.pixel; first += 4) {
      cmsis_nn_delegate_avg_pool_word_dsp(&windows, portable::word_at(windows, first));
    }
  }
};

struct MveMeans {
  static void find(const portable::PooledWindows& windows) {
    std::int32_t first = 0;
    for (; first + 32 <= windows.pixel; first += 32) {
      cmsis_nn_delegate_avg_pool_32_mve(&windows, first);
    }
    for (; first < windows.pixel; first += 8) {
      cmsis_nn_delegate_avg_pool_rest_mve(&windows, first);
    }
  }
};

struct Plain {
  static Error run(const void* args, const Bases& bases) {
    return portable::compute_avg_pool2d_channels(args, bases);
  }
};

}  // namespace

Error run_avg_pool2d_channels(const void* args, const Bases& bases) {
  return DspOr<InAssembly<DspMeans>, MveOr<InAssembly<MveMeans>, Plain>>::run(args, bases);
}

constexpr KernelOf<payload::Opcode::kAvgPool2dChannels> kAvgPool2dChannels =
    portable::avg_pool2d_channels_kernel(run_avg_pool2d_channels);

}  // namespace cmsis_nn_delegate::tuned
