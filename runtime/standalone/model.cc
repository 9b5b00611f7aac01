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

/// Memory that something else uses.
struct Taken {
  const void* data;
  std::size_t bytes;

  /// Whether the `count` bytes at `memory` have none in common with it.
  bool apart_from(const void* memory, std::size_t count) const {
    const auto first = reinterpret_cast<std::uintptr_t>(data);
    const auto second = reinterpret_cast<std::uintptr_t>(memory);
    return first - second >= count && second - first >= bytes;  // one of both wraps
  }
};

/// Whether the `bytes` at `memory` can hold an arena or a state of `needed` bytes.
bool fits(const void* memory, std::size_t bytes, std::uint32_t needed, const Taken& taken) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return needed == 0 ||
         (memory != nullptr && bytes >= needed && address % payload::kAlignment == 0 &&
          UINTPTR_MAX - address >= needed && taken.apart_from(memory, needed));
}

/// The memory that the delegate may take: at init() first the handle, alone or with the state after
/// it, then the arena.
class ModelMemory final : public MemoryAllocator {
 public:
  /// At execute() `handle` is null, and only the arena is available.
  ModelMemory(const Taken& taken, std::uint8_t* handle, void* state, std::size_t state_bytes,
              void* arena, std::size_t arena_bytes)
      : MemoryAllocator(0, nullptr),
        taken_(taken),
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
    return fits(memory, bytes, static_cast<std::uint32_t>(size), taken_) ? memory : nullptr;
  }

 private:
  Taken taken_;
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
  const Taken taken = {payload, payload_bytes};
  ModelMemory memory(taken, handle_memory_, state, state_bytes, arena, arena_bytes);
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
  const std::uint32_t needed = view.header().arena_bytes;
  const std::uint32_t kept = view.header().persistent_bytes + view.header().copied_bytes;
  const Taken with_state = {*handle, kept == 0 ? 0 : payload::kStateOffset + kept};
  if (!fits(arena, arena_bytes, needed, taken) ||
      (needed != 0 && !with_state.apart_from(arena, needed))) {
    return Error::MemoryAllocationFailed;
  }
  backend_ = &backend;
  handle_ = *handle;
  arena_bytes_ = needed;
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
  // Room of its own in the arena is what data() returned; anything else there is overwritten.
  const payload::IoTensor& tensor = tensors_[index];
  const Taken arena = {arena_, arena_bytes_};
  if (data != nullptr && !arena.apart_from(data, tensor.nbytes) &&
      (tensor.arena_offset == payload::kNoArenaOffset || data != arena_ + tensor.arena_offset)) {
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
  ModelMemory memory({nullptr, 0}, nullptr, nullptr, 0, arena_, arena_bytes_);
  BackendExecutionContext context(tracer, &memory, "forward");
  return backend_->execute(context, handle_, Span<EValue*>(pointers_, count_));
}

}  // namespace cmsis_nn_delegate
