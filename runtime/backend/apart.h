// Whether pieces of a model's memory lie apart. Only builds with a log look: they are those in which
// firmware is developed, and the others take no flash for it.
#pragma once

#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include <executorch/runtime/platform/log.h>

#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/payload/view.h"

namespace cmsis_nn_delegate {

/// Whether two pieces of memory have no byte in common.
[[maybe_unused]] inline bool apart([[maybe_unused]] const void* a,
                                   [[maybe_unused]] std::size_t a_bytes,
                                   [[maybe_unused]] const void* b,
                                   [[maybe_unused]] std::size_t b_bytes) {
#if ET_LOG_ENABLED
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return a_bytes == 0 || b_bytes == 0 ||
         (first - second >= b_bytes && second - first >= a_bytes);  // one of both wraps
#else
  return true;
#endif
}

/// Whether `memory`, which logs call `name`, lies apart from the payload and from the first
/// `regions` of the regions that it uses. `config` has these.
inline bool apart_from_model([[maybe_unused]] const char* name, [[maybe_unused]] const void* memory,
                             [[maybe_unused]] std::size_t bytes,
                             [[maybe_unused]] const PayloadView& view,
                             [[maybe_unused]] const Config& config,
                             [[maybe_unused]] unsigned regions) {
#if ET_LOG_ENABLED
  if (!apart(memory, bytes, view.data(), view.header().payload_bytes)) {
    ET_LOG(Error, "%s, %zu bytes at %p, overlaps the payload, %" PRIu32 " bytes at %p", name, bytes,
           memory, view.header().payload_bytes, static_cast<const void*>(view.data()));
    return false;
  }
  for (unsigned i = 0; i < regions; ++i) {
    const std::uint32_t region_bytes = view.region_bytes()[i];
    const void* const region = config.regions[i].data;
    if (!apart(memory, bytes, region, region_bytes)) {
      ET_LOG(Error,
             "%s, %zu bytes at %p, overlaps region %u of Config::regions, of which the payload "
             "uses %" PRIu32 " bytes at %p",
             name, bytes, memory, i + 1, region_bytes, region);
      return false;
    }
  }
#endif
  return true;
}

}  // namespace cmsis_nn_delegate
