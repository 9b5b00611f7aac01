// The ExecuTorch delegate: runs payloads made by the Python package cmsis_nn_delegate.
//
// Memory, all of it from the caller, none of it from a heap:
//   - the handle, kHandleBytes, from the runtime allocator (the method's) at init(). That of a payload
//     with persistent memory, Header::persistent_bytes, has this after it: payload::kStateOffset +
//     persistent_bytes in all, aligned to 16. It is zeros at first, and kept between executions;
//   - the arena of activations and scratch, Header::arena_bytes aligned to 16, from the temp
//     allocator at every execute(), so that delegates share it; or once from the runtime
//     allocator at init() (Config::arena_at_init). ExecuTorch's Method always has a temp
//     allocator: without one in its MemoryManager, a heap's (PlatformMemoryAllocator);
//   - the payload stays where it is, in flash: init() keeps pointers into `processed` and
//     never frees it. Whoever provided the buffer may release it after destroy().
//
// The runtime allocator is used by init() alone. It may be gone at the first execute(), as
// ExecuTorch allows; the memory that it gave must stay until destroy().
//
// A handle is not reentrant: run one execute() of it at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/backend/interface.h>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {

/// The backend's name in a .pte: the class name of the Python half.
inline constexpr char kBackendId[] = "CmsisNnBackend";

struct Config {
  /// Check the CRC-32 of the whole payload at init(): 11 instructions a byte on a
  /// Cortex-M4. The structural checks are always done.
  bool verify_crc = false;
  /// Take the arena from the runtime allocator at init(), even if there is a temp allocator
  /// at execute(). For programs that must know all their memory after loading, and for those
  /// that call execute() without a temp allocator.
  bool arena_at_init = false;
};

class CmsisNnBackend : public executorch::runtime::BackendInterface {
 public:
  /// `kernels` must outlive the backend.
  explicit constexpr CmsisNnBackend(const KernelTable& kernels, Config config = {})
      : kernels_(kernels), config_(config) {}
  ~CmsisNnBackend() override = default;

  bool is_available() const override { return true; }

  /// Validates the payload. Errors: InvalidArgument for a `processed` that is null or has no
  /// data; those of PayloadView::open(); InvalidProgram for a wrong CRC;
  /// MemoryAllocationFailed. `compile_specs` are not used: the payload says everything.
  [[nodiscard]] executorch::runtime::Result<executorch::runtime::DelegateHandle*> init(
      executorch::runtime::BackendInitContext& context,
      executorch::runtime::FreeableBuffer* processed,
      executorch::runtime::ArrayRef<executorch::runtime::CompileSpec> compile_specs) const override;

  /// Runs the calls. `args` are the inputs, then the outputs, as the payload describes them;
  /// float data must be 4-byte aligned. Errors: InvalidArgument for a null `handle`, and for
  /// arguments that are null, no tensors, without data, or of another number, type, shape,
  /// dimension order or alignment; MemoryAllocationFailed for the arena, also without a temp
  /// allocator if init() did not take it; whatever a kernel returns.
  [[nodiscard]] executorch::runtime::Error execute(
      executorch::runtime::BackendExecutionContext& context,
      executorch::runtime::DelegateHandle* handle,
      executorch::runtime::Span<executorch::runtime::EValue*> args) const override;

  /// Makes the next execution the first one again, for payloads that remember something. Errors:
  /// InvalidArgument for a null `handle`.
  [[nodiscard]] executorch::runtime::Error reset(executorch::runtime::DelegateHandle* handle) const;

  /// Ends the use of the payload. The memory belongs to the allocators. A null `handle` is
  /// allowed.
  void destroy(executorch::runtime::DelegateHandle* handle) const override;

  const KernelTable& kernels() const { return kernels_; }
  const Config& config() const { return config_; }

 private:
  const KernelTable& kernels_;
  Config config_;
};

/// Bytes that init() takes from the runtime allocator for the handle of a payload without persistent memory.
inline constexpr std::size_t kHandleBytes = 2 * sizeof(void*);

}  // namespace cmsis_nn_delegate
