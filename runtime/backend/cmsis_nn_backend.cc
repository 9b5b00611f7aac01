#include "runtime/backend/cmsis_nn_backend.h"

#include <cinttypes>
#include <new>

#include <executorch/runtime/core/event_tracer_hooks_delegate.h>
#include <executorch/runtime/platform/log.h>

#include "runtime/backend/apart.h"
#include "runtime/payload/bases.h"
#include "runtime/payload/crc32.h"
#include "runtime/payload/view.h"

namespace cmsis_nn_delegate {
namespace {

using executorch::runtime::BackendExecutionContext;
using executorch::runtime::BackendInitContext;
using executorch::runtime::CompileSpec;
using executorch::runtime::DelegateHandle;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::Result;
using executorch::runtime::Span;

/// What lives between init() and destroy().
struct Handle {
  PayloadView payload;
  /// The arena that init() took, or nullptr.
  std::uint8_t* arena;
};
static_assert(sizeof(Handle) == kHandleBytes, "kHandleBytes tells users what init() takes");

/// Returns `bytes` for the arena from `allocator`, or nullptr.
std::uint8_t* allocate_arena(MemoryAllocator& allocator, std::uint32_t bytes,
                             [[maybe_unused]] const char* allocator_name) {
  void* arena = allocator.allocate(bytes, payload::kAlignment);
  if (arena == nullptr) {
    ET_LOG(Error, "the %s allocator cannot give the arena of %" PRIu32 " bytes, aligned to %zu",
           allocator_name, bytes, payload::kAlignment);
  }
  return static_cast<std::uint8_t*>(arena);
}

/// Checks that `config` has each region of the payload, apart from the payload and the others.
Error check_regions(const PayloadView& view, const Config& config) {
  for (unsigned i = 0; i < view.header().region_count; ++i) {
    const std::uint32_t needed = view.region_bytes()[i];
    if (i >= config.region_count) {
      ET_LOG(
          Error,
          "the payload was compiled for %u regions beside the arena, Config::regions has %zu: give "
          "region %u %" PRIu32 " bytes",
          static_cast<unsigned>(view.header().region_count), config.region_count, i + 1, needed);
      return Error::MemoryAllocationFailed;
    }
    const MemoryRegion& region = config.regions[i];
    if (region.bytes < needed) {
      ET_LOG(Error,
             "region %u of Config::regions has %zu bytes, %zu fewer than the payload's %" PRIu32,
             i + 1, region.bytes, needed - region.bytes, needed);
      return Error::MemoryAllocationFailed;
    }
    if (needed != 0 && (region.data == nullptr ||
                        reinterpret_cast<std::uintptr_t>(region.data) % payload::kAlignment != 0)) {
      ET_LOG(Error, "region %u of Config::regions is null or not 16-byte aligned", i + 1);
      return Error::MemoryAllocationFailed;
    }
    if (!apart_from_model("a region", region.data, needed, view, config, i)) {
      return Error::MemoryAllocationFailed;
    }
  }
  return Error::Ok;
}

/// Returns the state that the payload's calls keep between executions. The handle's payload must
/// have persistent memory or copied constants.
std::uint8_t* state_of(DelegateHandle* handle) {
  return static_cast<std::uint8_t*>(handle) + payload::kStateOffset;
}
static_assert(sizeof(Handle) <= payload::kStateOffset, "the state lies after the handle");

/// Returns the copies of constants, which follow the state.
std::uint8_t* copies_of(DelegateHandle* handle) {
  return state_of(handle) + static_cast<const Handle*>(handle)->payload.header().persistent_bytes;
}

// volatile keeps the compiler from calling memset() and memcpy(), which the image may not otherwise
// contain.

/// Makes the next execution the first one.
void clear_state(DelegateHandle* handle) {
  std::uint8_t* const end = copies_of(handle);
  for (std::uint8_t* at = state_of(handle); at != end; at += sizeof(std::uint32_t)) {
    *reinterpret_cast<volatile std::uint32_t*>(at) = 0;
  }
}

void copy_constants(DelegateHandle* handle) {
  const PayloadView& view = static_cast<const Handle*>(handle)->payload;
  const payload::Header& header = view.header();
  auto* to = reinterpret_cast<volatile std::uint32_t*>(copies_of(handle));
  const auto* from = reinterpret_cast<const std::uint32_t*>(view.data() + header.constants_offset);
  // Their size is a multiple of 16.
  for (const auto* const end = to + header.copied_bytes / 4; to != end; to += 4, from += 4) {
    to[0] = from[0];
    to[1] = from[1];
    to[2] = from[2];
    to[3] = from[3];
  }
}

Result<Handle*> make_handle(MemoryAllocator* runtime_allocator, const PayloadView& view,
                            const Config& config) {
  // Both are less than 2^28.
  const std::uint32_t kept = view.header().persistent_bytes + view.header().copied_bytes;
  const std::size_t bytes = kept == 0 ? sizeof(Handle) : payload::kStateOffset + kept;
  const std::size_t alignment = kept == 0 ? alignof(Handle) : payload::kAlignment;
  MemoryAllocator* const allocator =
      config.state_allocator == nullptr ? runtime_allocator : config.state_allocator;
  void* memory = allocator == nullptr ? nullptr : allocator->allocate(bytes, alignment);
  if (memory == nullptr) {
    ET_LOG(Error,
           "the %s allocator cannot give %zu bytes for the handle, the state and copied constants",
           config.state_allocator == nullptr ? "runtime" : "state", bytes);
    return Error::MemoryAllocationFailed;
  }
  const unsigned regions = view.header().region_count;
  if (!apart_from_model("the memory for the handle and the state", memory, bytes, view, config,
                        regions)) {
    return Error::MemoryAllocationFailed;
  }
  auto* handle = new (memory) Handle{view, nullptr};
  if (kept != 0) {
    clear_state(handle);
    copy_constants(handle);
  }
  const std::uint32_t arena_bytes = view.header().arena_bytes;
  if (config.arena_at_init && arena_bytes != 0) {
    if (runtime_allocator != nullptr) {
      handle->arena = allocate_arena(*runtime_allocator, arena_bytes, "runtime");
    }
    if (handle->arena == nullptr ||
        !apart_from_model("the arena", handle->arena, arena_bytes, view, config, regions)) {
      return Error::MemoryAllocationFailed;
    }
  }
  return handle;
}

/// Returns the arena for one execution, or nullptr if there is none or the payload needs none.
std::uint8_t* find_arena(const Handle& handle, const Config& config,
                         MemoryAllocator* temp_allocator) {
  const std::uint32_t bytes = handle.payload.header().arena_bytes;
  if (config.arena_at_init || bytes == 0) {
    // On a 64-bit host spare_of() lies where the address would be if init() took no arena; on
    // 32 bits that is null then, and a null for both would take more flash.
    return sizeof(void*) != 4 && bytes == 0 ? nullptr : handle.arena;
  }
  if (temp_allocator == nullptr) {
    // The allocator that init() had may be gone by now, so it is no substitute.
    ET_LOG(Error,
           "there is no temp allocator: give the method one of %" PRIu32
           " bytes, or set Config::arena_at_init",
           bytes);
    return nullptr;
  }
  return allocate_arena(*temp_allocator, bytes, "temp");
}

/// Whether `given` equals `expected` in all `rank` sizes. Avoids memcmp(), which compares byte by
/// byte in newlib-nano.
bool same_sizes(const std::int32_t* given, const std::int32_t* expected, std::size_t rank) {
  for (std::size_t i = 0; i < rank; ++i) {
    if (given[i] != expected[i]) {
      return false;
    }
  }
  return true;
}

/// Whether the dimension orders `given` and `expected` put the elements of a tensor of `sizes` into
/// the same places. Dimensions of size 1 may stand anywhere, because exporters sort dimensions by
/// their strides, which mean nothing for size 1. `expected` has been validated as a permutation;
/// `given` must be one too.
bool same_order(const std::uint8_t* given, const std::uint8_t* expected, const std::int32_t* sizes,
                std::size_t rank) {
  if (given == nullptr) {
    return rank == 0;
  }
  std::size_t same = 0;
  while (same < rank && given[same] == expected[same]) {
    ++same;
  }
  if (same == rank) {
    return true;  // the usual case, found in half of the instructions
  }
  std::size_t next = 0;
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (given[i] >= rank) {
      return false;
    }
    seen |= 1u << given[i];
    if (sizes[given[i]] == 1) {
      continue;
    }
    while (next < rank && sizes[expected[next]] == 1) {
      ++next;
    }
    if (next == rank || expected[next] != given[i]) {
      return false;
    }
    ++next;
  }
  // Without the check, a dimension of size 1 that is named twice would hide another one.
  return seen == (1u << rank) - 1;
}

/// Returns the data of `value` if it is the tensor that `expected` describes, else nullptr.
std::uint8_t* tensor_data(const EValue* value, const payload::IoTensor& expected,
                          [[maybe_unused]] unsigned index) {
  if (value == nullptr || !value->isTensor() ||
      value->toTensor().unsafeGetTensorImpl() == nullptr) {
    ET_LOG(Error, "argument %u is not a tensor", index);
    return nullptr;
  }
  const auto& tensor = value->toTensor();
  if (static_cast<unsigned>(tensor.scalar_type()) != expected.dtype) {
    ET_LOG(Error, "argument %u has element type %d, the model was compiled for %d", index,
           static_cast<int>(tensor.scalar_type()), static_cast<int>(expected.dtype));
    return nullptr;
  }
  const auto sizes = tensor.sizes();
  const auto dim_order = tensor.dim_order();
  if (sizes.size() != expected.rank || !same_sizes(sizes.data(), expected.sizes, expected.rank) ||
      !same_order(dim_order.data(), expected.dim_order, expected.sizes, expected.rank)) {
    ET_LOG(Error,
           "argument %u has another shape or dimension order than the model was compiled for",
           index);
    return nullptr;
  }
  // Type and shape are equal, so the tensor has expected.nbytes bytes.
  auto* data = static_cast<std::uint8_t*>(tensor.mutable_data_ptr());
  // The bits of an address that must be 0. A remainder would be a division, which small cores compute
  // in a function.
  std::uintptr_t below = 0;
  if (expected.dtype == static_cast<std::uint8_t>(payload::DType::kFloat32)) {
    below = alignof(float) - 1;
  } else if (expected.dtype == static_cast<std::uint8_t>(payload::DType::kInt16)) {
    below = alignof(std::int16_t) - 1;
  }
  if (data == nullptr || (reinterpret_cast<std::uintptr_t>(data) & below) != 0) {
    ET_LOG(
        Error,
        "argument %u has no data, floats that are not 4-byte aligned or int16 numbers that are not "
        "2-byte aligned",
        index);
    return nullptr;
  }
  return data;
}

}  // namespace

Result<DelegateHandle*> CmsisNnBackend::init(
    BackendInitContext& context, FreeableBuffer* processed,
    executorch::runtime::ArrayRef<CompileSpec> /*compile_specs*/) const {
  // data() would abort for an address on another core.
  const Result<const void*> data =
      processed == nullptr ? Result<const void*>(nullptr) : processed->data_safe();
  if (!data.ok() || *data == nullptr) {
    ET_LOG(Error, "init() was given no payload, or a payload that was freed");
    return Error::InvalidArgument;
  }
  const Result<PayloadView> view = PayloadView::open(*data, processed->size(), kernels_);
  if (!view.ok()) {
    return view.error();
  }
  if (config_.verify_crc) {
    const payload::Header& header = view->header();
    if (payload_crc32(&header, header.payload_bytes) != header.crc32) {
      ET_LOG(Error, "payload is damaged: its CRC-32 is not %08" PRIx32, header.crc32);
      return Error::InvalidProgram;
    }
  }
  const Error regions = check_regions(*view, config_);
  if (regions != Error::Ok) {
    return regions;
  }
  const Result<Handle*> handle = make_handle(context.get_runtime_allocator(), *view, config_);
  if (!handle.ok()) {
    return handle.error();
  }
  return static_cast<DelegateHandle*>(*handle);
}

Error CmsisNnBackend::execute(BackendExecutionContext& context, DelegateHandle* delegate_handle,
                              Span<EValue*> args) const {
  if (delegate_handle == nullptr) {
    ET_LOG(Error, "execute() has no handle: init() failed, or was not called");
    return Error::InvalidArgument;
  }
  const auto& handle = *static_cast<const Handle*>(delegate_handle);
  const PayloadView& view = handle.payload;
  if (args.size() != view.tensor_count()) {
    ET_LOG(Error, "there are %zu arguments, the model was compiled for %u", args.size(),
           view.tensor_count());
    return Error::InvalidArgument;
  }

  // Bases that no reference of a valid payload names stay unset.
  Bases bases;
  bases[payload::kBaseNone] = nullptr;
  bases[payload::kBaseConstant] = const_cast<std::uint8_t*>(view.data());
  const payload::IoTensor* tensors = view.tensors();
  for (unsigned i = 0; i < args.size(); ++i) {
    std::uint8_t* data = tensor_data(args[i], tensors[i], i);
    if (data == nullptr) {
      return Error::InvalidArgument;
    }
    bases[payload::kBaseIo + i] = data;
  }
  unsigned base = view.persistent_base();  // the others follow
  if (view.header().persistent_bytes != 0) {
    bases[base++] = state_of(delegate_handle);
  }
  if (view.header().copied_bytes != 0) {
    bases[base++] = copies_of(delegate_handle);
  }
  for (unsigned i = 0; i < view.header().region_count; ++i) {
    bases[base++] = static_cast<std::uint8_t*>(config_.regions[i].data);
  }
  bases[payload::kBaseArena] = find_arena(handle, config_, context.get_temp_allocator());
  if (bases[payload::kBaseArena] == nullptr && view.header().arena_bytes != 0) {
    return Error::MemoryAllocationFailed;
  }

#ifdef ET_EVENT_TRACER_ENABLED
  executorch::runtime::DebugHandle index = 0;
#endif
  for (const Call& call : view.calls()) {
#ifdef ET_EVENT_TRACER_ENABLED
    const auto event = executorch::runtime::event_tracer_start_profiling_delegate(
        context.event_tracer(), nullptr, index);
#endif
    const Error error = kernels_.find(call.opcode)->run(call.args(), bases);
#ifdef ET_EVENT_TRACER_ENABLED
    executorch::runtime::event_tracer_end_profiling_delegate(context.event_tracer(), event);
    ++index;
#endif
    if (error != Error::Ok) {
      ET_LOG(Error, "the kernel of opcode %u failed: 0x%" PRIx32,
             static_cast<unsigned>(call.opcode), static_cast<std::uint32_t>(error));
      return error;
    }
  }
  return Error::Ok;
}

Error CmsisNnBackend::reset(DelegateHandle* handle) const {
  if (handle == nullptr) {
    ET_LOG(Error, "reset() has no handle: init() failed, or was not called");
    return Error::InvalidArgument;
  }
  clear_state(handle);
  return Error::Ok;
}

std::uint32_t* CmsisNnBackend::spare_of(DelegateHandle* handle) {
  if (handle == nullptr ||
      static_cast<const Handle*>(handle)->payload.header().persistent_bytes == 0) {
    return nullptr;
  }
  return reinterpret_cast<std::uint32_t*>(state_of(handle)) - 1;
}

void CmsisNnBackend::destroy(DelegateHandle* handle) const {
  if (handle != nullptr) {
    static_cast<Handle*>(handle)->~Handle();
  }
}

}  // namespace cmsis_nn_delegate
