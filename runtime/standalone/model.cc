#include "runtime/standalone/model.h"

#include <new>

#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/platform/log.h>

#include "runtime/backend/apart.h"
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

/// Whether the `bytes` at `memory` can hold an arena or a state of `needed` bytes.
bool fits(const void* memory, std::size_t bytes, std::uint32_t needed) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return needed == 0 || (memory != nullptr && bytes >= needed &&
                         address % payload::kAlignment == 0 && UINTPTR_MAX - address >= needed);
}

/// The memory that the delegate may take: at init() first the handle, alone or with the state after
/// it, then the arena.
class ModelMemory final : public MemoryAllocator {
 public:
  /// At execute() `handle` is null, and only the arena is available.
  ModelMemory(std::uint8_t* handle, void* state, std::size_t state_bytes, void* arena,
              std::size_t arena_bytes)
      : MemoryAllocator(0, nullptr),
        handle_(handle),
        state_(state),
        state_bytes_(state_bytes),
        arena_(arena),
        arena_bytes_(arena_bytes) {}

  void* allocate(std::size_t size, std::size_t /*alignment*/) override {
    void* memory = arena_;
    std::size_t bytes = arena_bytes_;
    if (handle_ != nullptr) {
      std::uint8_t* const handle = handle_;
      handle_ = nullptr;
      if (size == kHandleBytes) {
        return handle;
      }
      memory = state_;
      bytes = state_bytes_;
    }
    return fits(memory, bytes, static_cast<std::uint32_t>(size)) ? memory : nullptr;
  }

 private:
  std::uint8_t* handle_;
  void* state_;
  std::size_t state_bytes_;
  void* arena_;
  std::size_t arena_bytes_;
};

}  // namespace

Error StandaloneModelBase::load(const CmsisNnBackend& backend, const void* payload,
                                std::size_t payload_bytes, void* arena, std::size_t arena_bytes,
                                void* state, std::size_t state_bytes) {
  count_ = 0;
  ModelMemory memory(handle_memory_, state, state_bytes, arena, arena_bytes);
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
  if (!fits(arena, arena_bytes, view.header().arena_bytes)) {
    return Error::MemoryAllocationFailed;
  }
  if (!apart_from_model("the arena", arena, view.header().arena_bytes, view, backend.config(),
                        view.header().region_count)) {
    return Error::MemoryAllocationFailed;
  }
  if (state != nullptr && !apart(arena, view.header().arena_bytes, state, state_bytes)) {
    ET_LOG(Error, "the arena overlaps the state");
    return Error::MemoryAllocationFailed;
  }
  backend_ = &backend;
  handle_ = *handle;
  arena_bytes_ = view.header().arena_bytes;
  arena_ = arena_bytes_ == 0 ? nullptr : static_cast<std::uint8_t*>(arena);
  payload_ = &view.header();
  for (std::size_t i = 0; i < count; ++i) {
    const payload::IoTensor& tensor = view.tensors()[i];
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
  return index < count_ ? PayloadView(*payload_).tensors()[index] : kNone;
}

Error StandaloneModelBase::set_data(std::size_t index, void* data) {
  if (index >= count_) {
    return count_ == 0 ? Error::InvalidState : Error::InvalidArgument;
  }
  // Room of its own in the arena is what data() returned; anything else there is overwritten.
  const PayloadView view(*payload_);
  const payload::IoTensor& tensor = view.tensors()[index];
  const bool own =
      tensor.arena_offset != payload::kNoArenaOffset && data == arena_ + tensor.arena_offset;
  if (data != nullptr && !own && !apart(arena_, arena_bytes_, data, tensor.nbytes)) {
    ET_LOG(Error, "the memory of tensor %zu lies in the arena", index);
    return Error::InvalidArgument;
  }
  if (data != nullptr && !apart_from_model("the memory of a tensor", data, tensor.nbytes, view,
                                           backend_->config(), view.header().region_count)) {
    return Error::InvalidArgument;
  }
  impls_[index].set_data(data);
  return Error::Ok;
}

Error StandaloneModelBase::reset() {
  return count_ == 0 ? Error::InvalidState : backend_->reset(handle_);
}

Error StandaloneModelBase::run(EventTracer* tracer) {
  if (count_ == 0) {
    return Error::InvalidState;
  }
  ModelMemory memory(nullptr, nullptr, 0, arena_, arena_bytes_);
  BackendExecutionContext context(tracer, &memory, "forward");
  return backend_->execute(context, handle_, Span<EValue*>(pointers_, count_));
}

}  // namespace cmsis_nn_delegate
