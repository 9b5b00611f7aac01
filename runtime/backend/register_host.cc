// Registers the backend with the portable kernels when the host library is loaded, and lets the process that loaded it
// read and write states.
#include <algorithm>
#include <mutex>
#include <vector>

#include <executorch/runtime/platform/log.h>

#include "runtime/backend/register.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace {

// A host has one kind of memory: what a model would keep in faster ones lies here. Pages that no model
// uses take no memory.
constexpr std::size_t kRegionBytes = std::size_t{16} << 20;
constexpr std::size_t kRegionCount = 4;
alignas(payload::kAlignment) std::uint8_t region_memory[kRegionCount][kRegionBytes];
constexpr MemoryRegion kRegions[kRegionCount] = {{region_memory[0], kRegionBytes},
                                                 {region_memory[1], kRegionBytes},
                                                 {region_memory[2], kRegionBytes},
                                                 {region_memory[3], kRegionBytes}};

/// Knows the handles that keep a state, because ExecuTorch's Method hands none out. A host has a
/// heap, and threads, which may load and destroy methods at the same time.
class HostBackend final : public RegisteredBackend {
 public:
  using RegisteredBackend::RegisteredBackend;

  executorch::runtime::Result<executorch::runtime::DelegateHandle*> init(
      executorch::runtime::BackendInitContext& context,
      executorch::runtime::FreeableBuffer* processed,
      executorch::runtime::ArrayRef<executorch::runtime::CompileSpec> specs) const override {
    auto handle = RegisteredBackend::init(context, processed, specs);
    if (handle.ok() && spare_of(*handle) != nullptr) {
      const auto& header = *static_cast<const payload::Header*>(processed->data());
      const std::scoped_lock lock(mutex_);
      states_.push_back({*handle, header.persistent_bytes, loaded_++});
    }
    return handle;
  }

  void destroy(executorch::runtime::DelegateHandle* handle) const override {
    {
      const std::scoped_lock lock(mutex_);
      states_.erase(std::remove_if(states_.begin(), states_.end(),
                                   [handle](const State& state) { return state.handle == handle; }),
                    states_.end());
    }
    RegisteredBackend::destroy(handle);
  }

  /// How many handles with a state were made so far.
  std::size_t loaded() const {
    const std::scoped_lock lock(mutex_);
    return loaded_;
  }

  /// The state of the handle that was made after `number` others with a state, and its size;
  /// nullptr if it is destroyed, or was not made.
  std::uint8_t* state(std::size_t number, std::size_t* bytes) const {
    const std::scoped_lock lock(mutex_);
    for (const State& state : states_) {
      if (state.number == number) {
        *bytes = state.bytes;
        return static_cast<std::uint8_t*>(state.handle) + payload::kStateOffset;
      }
    }
    return nullptr;
  }

 private:
  struct State {
    executorch::runtime::DelegateHandle* handle;
    std::uint32_t bytes;
    std::size_t number;
  };

  mutable std::mutex mutex_;
  mutable std::vector<State> states_;
  mutable std::size_t loaded_ = 0;
};

/// Never destroyed, because methods may be destroyed when the process ends.
HostBackend& backend() {
  static HostBackend& found = *new HostBackend(
      kPortableKernels,
      Config{/*verify_crc=*/true, /*arena_at_init=*/false, kRegions, kRegionCount});
  return found;
}

bool register_at_load() {
  const executorch::runtime::Error error =
      executorch::runtime::register_backend({kBackendId, &backend()});
  if (error != executorch::runtime::Error::Ok) {
    ET_LOG(Error, "cannot register %s: 0x%x", kBackendId, static_cast<unsigned>(error));
  }
  return error == executorch::runtime::Error::Ok;
}

[[maybe_unused]] const bool registered = register_at_load();

}  // namespace
}  // namespace cmsis_nn_delegate

/// Returns how many delegate calls that keep a state were loaded so far, those that are destroyed
/// among them.
extern "C" std::size_t cmsis_nn_delegate_state_count() {
  return cmsis_nn_delegate::backend().loaded();
}

/// Returns the state of `*bytes` bytes of the call that was loaded after `number` others with a
/// state. It may be read and written between executions until its method is destroyed. Nullptr,
/// with `*bytes` unchanged, if that has happened, or there is no such call yet.
extern "C" std::uint8_t* cmsis_nn_delegate_state(std::size_t number, std::size_t* bytes) {
  return cmsis_nn_delegate::backend().state(number, bytes);
}
