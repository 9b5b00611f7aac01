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

namespace {

constexpr payload::IoTensor no_tensor() {
  payload::IoTensor tensor = {};
  tensor.arena_offset = payload::kNoArenaOffset;
  return tensor;
}

/// Whether `bytes` at `arena` are one that has `needed` bytes.
bool arena_fits(const void* arena, std::size_t bytes, std::uint32_t needed) {
  const auto address = reinterpret_cast<std::uintptr_t>(arena);
  return needed == 0 || (arena != nullptr && bytes >= needed &&
                         address % payload::kAlignment == 0 && UINTPTR_MAX - address >= needed);
}

}  // namespace

Error StandaloneModelBase::load(const CmsisNnBackend& backend, const void* payload,
                                std::size_t payload_bytes, void* arena, std::size_t arena_bytes) {
  count_ = 0;
  handle_allocator_.reset();
  FreeableBuffer processed(payload, payload_bytes, nullptr);
  BackendInitContext context(&handle_allocator_, nullptr, "forward");
  // The arena is there: none is to be taken from the allocator, which has room for the handle.
  Config config = backend.config();
  config.arena_at_init = false;
  const CmsisNnBackend lazy(backend.kernels(), config);
  const auto handle = lazy.init(context, &processed, {});
  if (!handle.ok()) {
    return handle.error();
  }
  // From here on the payload is known to be valid.
  const auto& header = *static_cast<const payload::Header*>(payload);
  const std::size_t count = header.input_count + header.output_count;
  if (count > capacity_) {
    return Error::InvalidArgument;
  }
  if (!arena_fits(arena, arena_bytes, header.arena_bytes)) {
    return Error::MemoryAllocationFailed;
  }
  backend_ = &backend;
  handle_ = *handle;
  arena_bytes_ = header.arena_bytes;
  arena_ = arena_bytes_ == 0 ? nullptr : static_cast<std::uint8_t*>(arena);
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

const payload::IoTensor& StandaloneModelBase::tensor(std::size_t index) const {
  static constexpr payload::IoTensor kNone = no_tensor();
  return index < count_ ? tensors_[index] : kNone;
}

Error StandaloneModelBase::set_data(std::size_t index, void* data) {
  if (index >= count_) {
    return count_ == 0 ? Error::InvalidState : Error::InvalidArgument;
  }
  impls_[index].set_data(data);
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
