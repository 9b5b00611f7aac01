#include "runtime/standalone/model.h"

#include <new>

#include <executorch/runtime/core/memory_allocator.h>

#include "runtime/payload/view.h"

namespace cmsis_nn_delegate {

using executorch::runtime::BackendExecutionContext;
using executorch::runtime::BackendInitContext;
using executorch::runtime::Error;
using executorch::runtime::EventTracer;
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

/// What the delegate may take: the handle, unless it is null or given, and the arena.
class ModelMemory final : public MemoryAllocator {
 public:
  ModelMemory(std::uint8_t* handle, void* arena, std::size_t arena_bytes)
      : MemoryAllocator(0, nullptr), handle_(handle), arena_(arena), arena_bytes_(arena_bytes) {}

  void* allocate(std::size_t size, std::size_t /*alignment*/) override {
    if (handle_ != nullptr && size == kHandleBytes) {
      std::uint8_t* handle = handle_;
      handle_ = nullptr;
      return handle;
    }
    return arena_fits(arena_, arena_bytes_, static_cast<std::uint32_t>(size)) ? arena_ : nullptr;
  }

 private:
  std::uint8_t* handle_;
  void* arena_;
  std::size_t arena_bytes_;
};

}  // namespace

Error StandaloneModelBase::load(const CmsisNnBackend& backend, const void* payload,
                                std::size_t payload_bytes, void* arena, std::size_t arena_bytes) {
  count_ = 0;
  ModelMemory memory(handle_memory_, arena, arena_bytes);
  FreeableBuffer processed(payload, payload_bytes, nullptr);
  BackendInitContext context(&memory, nullptr, "forward");
  const auto handle = backend.init(context, &processed, {});
  if (!handle.ok()) {
    return handle.error();
  }
  // From here on the payload is known to be valid.
  const PayloadView view(*static_cast<const payload::Header*>(payload));
  const std::size_t count = view.tensor_count();
  if (count > capacity_) {
    return Error::InvalidArgument;
  }
  if (!arena_fits(arena, arena_bytes, view.header().arena_bytes)) {
    return Error::MemoryAllocationFailed;
  }
  backend_ = &backend;
  handle_ = *handle;
  arena_bytes_ = view.header().arena_bytes;
  arena_ = arena_bytes_ == 0 ? nullptr : static_cast<std::uint8_t*>(arena);
  tensors_ = view.tensors();
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

Error StandaloneModelBase::run(EventTracer* tracer) {
  if (count_ == 0) {
    return Error::InvalidState;
  }
  ModelMemory memory(nullptr, arena_, arena_bytes_);
  BackendExecutionContext context(tracer, &memory, "forward");
  return backend_->execute(context, handle_, Span<EValue*>(pointers_, count_));
}

}  // namespace cmsis_nn_delegate
