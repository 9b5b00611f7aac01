#include "runtime/runner/regions.h"

#include "runtime/payload/view.h"

namespace cmsis_nn_delegate::runner {

void Regions::add(const std::uint8_t* payload, std::size_t bytes) {
  if (bytes < sizeof(payload::Header)) {
    return;
  }
  const auto& header = *reinterpret_cast<const payload::Header*>(payload);
  const std::size_t tensors =
      sizeof(payload::IoTensor) * (std::size_t{header.input_count} + header.output_count);
  const std::size_t sizes = sizeof(std::uint32_t) * header.region_count;
  // Not validated yet: the sizes may lie anywhere.
  if (header.region_count > payload::kMaxIo || header.header_bytes % sizeof(std::uint32_t) != 0 ||
      header.header_bytes + tensors + sizes > bytes) {
    return;
  }
  const std::uint32_t* region_bytes = PayloadView(header).region_bytes();
  for (std::size_t i = 0; i < header.region_count; ++i) {
    if (region_bytes[i] % payload::kAlignment != 0) {
      return;
    }
  }
  for (std::size_t i = 0; i < header.region_count; ++i) {
    regions_[i].bytes = region_bytes[i] > regions_[i].bytes ? region_bytes[i] : regions_[i].bytes;
  }
  count_ = header.region_count > count_ ? header.region_count : count_;
}

std::uint32_t Regions::place(std::uint8_t* memory, std::size_t room) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (regions_[i].bytes > room - used) {
      count_ = 0;
      return 0;
    }
    regions_[i].data = memory + used;
    used += regions_[i].bytes;
  }
  return static_cast<std::uint32_t>(used);
}

}  // namespace cmsis_nn_delegate::runner
