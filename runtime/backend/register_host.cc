// Registers the backend with the portable kernels when the host library is loaded.
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

bool register_at_load() {
  const executorch::runtime::Error error = register_cmsis_nn_backend(
      kPortableKernels,
      Config{/*verify_crc=*/true, /*arena_at_init=*/false, kRegions, kRegionCount});
  if (error != executorch::runtime::Error::Ok) {
    ET_LOG(Error, "cannot register %s: 0x%x", kBackendId, static_cast<unsigned>(error));
  }
  return error == executorch::runtime::Error::Ok;
}

[[maybe_unused]] const bool registered = register_at_load();

}  // namespace
}  // namespace cmsis_nn_delegate
