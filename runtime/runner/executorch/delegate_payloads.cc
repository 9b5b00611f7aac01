#include "runtime/runner/executorch/delegate_payloads.h"

#include <cstring>

#include <executorch/schema/extended_header.h>
#include <executorch/schema/program_generated.h>

#include "runtime/backend/cmsis_nn_backend.h"

namespace cmsis_nn_delegate::runner {
namespace {

struct Bytes {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
};

/// Returns the data that `reference` names, which is inside of the program or in a segment behind it; none if it lies
/// outside of the .pte.
Bytes data_of(const executorch_flatbuffer::BackendDelegateDataReference& reference, Bytes pte) {
  const auto* program = executorch_flatbuffer::GetProgram(pte.data);
  if (reference.location() == executorch_flatbuffer::DataLocation::INLINE) {
    const auto* all = program->backend_delegate_data();
    if (all == nullptr || reference.index() >= all->size()) {
      return {};
    }
    const auto* data = all->Get(reference.index())->data();
    return data == nullptr ? Bytes() : Bytes{data->data(), data->size()};
  }
  const auto header = executorch::runtime::ExtendedHeader::Parse(pte.data, pte.size);
  const auto* segments = program->segments();
  if (!header.ok() || segments == nullptr || reference.index() >= segments->size()) {
    return {};
  }
  const auto* segment = segments->Get(reference.index());
  const std::uint64_t base = header->segment_base_offset;
  if (base > pte.size || segment->offset() > pte.size - base ||
      segment->size() > pte.size - base - segment->offset()) {
    return {};
  }
  return {pte.data + base + segment->offset(), static_cast<std::size_t>(segment->size())};
}

bool is(const flatbuffers::String* string, const char* text) {
  return string != nullptr && std::strcmp(string->c_str(), text) == 0;
}

}  // namespace

void add_regions_of_delegates(const std::uint8_t* program, std::size_t bytes, const char* method,
                              Regions& regions) {
  const auto* plans = executorch_flatbuffer::GetProgram(program)->execution_plan();
  for (std::size_t i = 0; plans != nullptr && i < plans->size(); ++i) {
    const auto* delegates = plans->Get(i)->delegates();
    if (delegates == nullptr || !is(plans->Get(i)->name(), method)) {
      continue;
    }
    for (std::size_t j = 0; j < delegates->size(); ++j) {
      const auto* processed = delegates->Get(j)->processed();
      if (processed == nullptr || !is(delegates->Get(j)->id(), kBackendId)) {
        continue;
      }
      const Bytes payload = data_of(*processed, {program, bytes});
      if (reinterpret_cast<std::uintptr_t>(payload.data) % payload::kAlignment == 0) {
        regions.add(payload.data, payload.size);
      }
    }
  }
}

}  // namespace cmsis_nn_delegate::runner
