// Memory for the regions that payloads have beside their arenas, as if it were other memories.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/backend/cmsis_nn_backend.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::runner {

/// Regions that are large enough for one or several payloads, which do not run at the same time.
class Regions {
 public:
  /// Enlarges the regions to what `payload` needs, 16-byte aligned and of `bytes` bytes. It is not validated yet: one
  /// that is truncated or has impossible regions adds nothing, and init() refuses it.
  void add(const std::uint8_t* payload, std::size_t bytes);

  /// Places the regions one after another from `memory` on, which is 16-byte aligned, and returns the bytes that they
  /// take. If they do not fit into `room` bytes, there are no regions, and init() refuses the payload.
  std::uint32_t place(std::uint8_t* memory, std::size_t room);

  /// For Config::regions; valid as long as this object.
  const MemoryRegion* data() const { return regions_; }
  std::size_t count() const { return count_; }

 private:
  MemoryRegion regions_[payload::kMaxIo] = {};
  std::size_t count_ = 0;
};

}  // namespace cmsis_nn_delegate::runner
