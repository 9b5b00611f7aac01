#include "runtime/standalone/model.h"

#include <new>

namespace cmsis_nn_delegate {

using executorch::runtime::BackendExecutionContext;
using executorch::runtime::BackendInitContext;
using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::Span;
using executorch::runtime::etensor::ScalarType;
using executorch::runtime::etensor::Tensor;

Error StandaloneModelBase::load(const CmsisNnBackend& backend, const void* payload,
                                std::size_t payload_bytes, void* arena, std::size_t arena_bytes) {
  count_ = 0;
  handle_allocator_.reset();
  FreeableBuffer processed(payload, payload_bytes, nullptr);
  BackendInitContext context(&handle_allocator_, nullptr, "forward");
  const auto handle = backend.init(context, &processed, {});
  if (!handle.ok()) {
    return handle.error();
  }
  // From here on the payload is known to be valid.
  const auto& header = *static_cast<const payload::Header*>(payload);
  const std::size_t count = header.input_count + header.output_count;
  if (count > capacity_) {
    return Error::InvalidArgument;
  }
  if (arena_bytes < header.arena_bytes ||
      reinterpret_cast<std::uintptr_t>(arena) % payload::kAlignment != 0) {
    return Error::MemoryAllocationFailed;
  }
  backend_ = &backend;
  handle_ = *handle;
  arena_ = static_cast<std::uint8_t*>(arena);
  arena_bytes_ = header.arena_bytes;
  tensors_ = reinterpret_cast<const payload::IoTensor*>(static_cast<const std::uint8_t*>(payload) +
                                                        header.tensors_offset);
  for (std::size_t i = 0; i < count; ++i) {
    const payload::IoTensor& tensor = tensors_[i];
    const bool in_arena = tensor.arena_offset != payload::kNoArenaOffset;
    // The delegate reads sizes and dimension order, and writes neither.
    new (&impls_[i]) TensorImpl(static_cast<ScalarType>(tensor.dtype), tensor.rank,
                                const_cast<std::int32_t*>(tensor.sizes),
                                in_arena ? arena_ + tensor.arena_offset : nullptr,
                                const_cast<std::uint8_t*>(tensor.dim_order));
    pointers_[i] = new (&values_[i]) EValue(Tensor(&impls_[i]));
  }
  count_ = count;
  return Error::Ok;
}

Error StandaloneModelBase::run() {
  if (count_ == 0) {
    return Error::InvalidState;
  }
  MemoryAllocator temp_allocator(arena_bytes_, arena_);
  BackendExecutionContext context(nullptr, &temp_allocator, "forward");
  return backend_->execute(context, handle_, Span<EValue*>(pointers_, count_));
}

}  // namespace cmsis_nn_delegate
