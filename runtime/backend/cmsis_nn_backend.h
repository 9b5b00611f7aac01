// The ExecuTorch delegate: runs payloads made by the Python package cmsis_nn_delegate.
//
// All memory comes from the caller, none from a heap:
//   - the handle, kHandleBytes, comes from the runtime allocator (the method's) at init(), or from
//     Config::state_allocator. If the payload has persistent memory (Header::persistent_bytes) or
//     copied constants (Header::copied_bytes), these follow the handle: together they take
//     payload::kStateOffset + persistent_bytes + copied_bytes, aligned to 16. The persistent memory
//     starts as zeros and is kept between executions; init() copies the constants there once;
//   - the arena of activations and scratch, Header::arena_bytes aligned to 16, comes from the temp
//     allocator at every execute(), so that delegates share it; with Config::arena_at_init it comes
//     from the runtime allocator once, at init(). ExecuTorch's Method always has a temp allocator:
//     if its MemoryManager has none, it uses one backed by the heap (PlatformMemoryAllocator);
//   - a payload compiled for several memories has regions beside the arena, which lie in
//     Config::regions;
//   - the payload stays where it is, in flash: init() keeps pointers into `processed` and
//     never frees it. init() checks the payload once and execute() trusts it, so no byte of it may
//     change until destroy(); the arena, regions, state and arguments must lie apart from it and
//     from one another. Whoever provided the buffer may release it after destroy().
//
// Only init() uses the runtime allocator. The allocator may be destroyed before the first
// execute(), as ExecuTorch allows, but the memory that it gave must stay valid until destroy().
//
// A handle is not reentrant: run one execute() of it at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/backend/interface.h>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {

/// The backend's name in a .pte, which is the name of its Python class.
inline constexpr char kBackendId[] = "CmsisNnBackend";

/// Memory for a region of payloads beside the arena, such as a tightly coupled memory.
struct MemoryRegion {
  /// 16-byte aligned.
  void* data;
  std::size_t bytes;
};

struct Config {
  /// Check the CRC-32 of the whole payload at init(): 11 instructions a byte on a
  /// Cortex-M4. The structural checks are always done.
  bool verify_crc = false;
  /// Take the arena from the runtime allocator at init(), even if there is a temp allocator
  /// at execute(). For programs that must know all their memory after loading, and for those
  /// that call execute() without a temp allocator.
  bool arena_at_init = false;
  /// The regions beside the arena, in the order of the memories that models were compiled for (all
  /// but the last one, which is the arena). All models of the backend share them and use them
  /// during execute() only: do not run two executions at a time, and between them use the memory
  /// for anything. Models compiled for one memory need none. The array and the memory must outlive
  /// the backend.
  const MemoryRegion* regions = nullptr;
  std::size_t region_count = 0;
  /// If not null, init() takes the handle, the state and copied constants from here instead of from
  /// the runtime allocator, so that they can lie in a fast memory. The memory must outlive the
  /// models.
  executorch::runtime::MemoryAllocator* state_allocator = nullptr;
};

class CmsisNnBackend : public executorch::runtime::BackendInterface {
 public:
  /// `kernels` must outlive the backend.
  explicit constexpr CmsisNnBackend(const KernelTable& kernels, Config config = {})
      : kernels_(kernels), config_(config) {}
  ~CmsisNnBackend() override = default;

  bool is_available() const override { return true; }

  /// Validates the payload. Errors: InvalidArgument if `processed` is null or has no data;
  /// the errors of PayloadView::open(); InvalidProgram for a wrong CRC; MemoryAllocationFailed,
  /// also if Config::regions lacks a region of the payload, or has it too small or not 16-byte
  /// aligned, or, in builds with a log, if the payload, a region, the state or the arena that init()
  /// takes overlap. `compile_specs` is ignored: the payload contains everything.
  [[nodiscard]] executorch::runtime::Result<executorch::runtime::DelegateHandle*> init(
      executorch::runtime::BackendInitContext& context,
      executorch::runtime::FreeableBuffer* processed,
      executorch::runtime::ArrayRef<executorch::runtime::CompileSpec> compile_specs) const override;

  /// Runs the calls. `args` are the inputs, then the outputs, as the payload describes them;
  /// float data must be 4-byte aligned, int16 data 2-byte aligned. Errors: InvalidArgument for a null `handle`, for an
  /// argument that is null, not a tensor or without data, and for arguments whose number, type,
  /// shape, dimension order or alignment does not match; MemoryAllocationFailed if there is no room
  /// for the arena, or no temp allocator and init() did not take the arena; whatever a kernel
  /// returns, such as InvalidArgument for an index that is not in its table, with which outputs are
  /// undefined.
  [[nodiscard]] executorch::runtime::Error execute(
      executorch::runtime::BackendExecutionContext& context,
      executorch::runtime::DelegateHandle* handle,
      executorch::runtime::Span<executorch::runtime::EValue*> args) const override;

  /// Clears the state: the next execution is like the first one. ExecuTorch's Method does not hand
  /// its handle out; there, an option resets all handles (register.h). An execution that fails may
  /// leave the state partly changed. Errors: InvalidArgument for a null `handle`.
  [[nodiscard]] executorch::runtime::Error reset(executorch::runtime::DelegateHandle* handle) const;

  /// Ends the use of the payload. It frees no memory: that belongs to the allocators. A null
  /// `handle` is allowed.
  void destroy(executorch::runtime::DelegateHandle* handle) const override;

  const KernelTable& kernels() const { return kernels_; }
  const Config& config() const { return config_; }

 protected:
  /// Four bytes between the handle and its state for a subclass to use; init() leaves them
  /// undefined. Null if the handle is null or its payload has no state. Not with
  /// Config::arena_at_init on a 64-bit host, where the arena's address lies there.
  static std::uint32_t* spare_of(executorch::runtime::DelegateHandle* handle);

 private:
  const KernelTable& kernels_;
  Config config_;
};

/// Bytes that init() takes for the handle of a payload without persistent memory and copied
/// constants.
inline constexpr std::size_t kHandleBytes = 2 * sizeof(void*);

}  // namespace cmsis_nn_delegate
