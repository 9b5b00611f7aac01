// Registration of the backend with ExecuTorch's runtime.
#pragma once

#include <cstdint>

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/error.h>

#include "runtime/backend/cmsis_nn_backend.h"

namespace cmsis_nn_delegate {

/// The key of the option with which states begin anew.
inline constexpr char kResetOption[] = "reset";

/// The delegate with what ExecuTorch offers for methods that are loaded: options, which reach all of
/// them.
///
///   executorch::runtime::BackendOptions<1> options;
///   options.set_option(kResetOption, true);
///   error = executorch::runtime::set_option(kBackendId, options.view());
///
/// Firmware that does not register the delegate takes no flash for them.
class RegisteredBackend : public CmsisNnBackend {
 public:
  using CmsisNnBackend::CmsisNnBackend;

  [[nodiscard]] executorch::runtime::Result<executorch::runtime::DelegateHandle*> init(
      executorch::runtime::BackendInitContext& context,
      executorch::runtime::FreeableBuffer* processed,
      executorch::runtime::ArrayRef<executorch::runtime::CompileSpec> compile_specs) const override;

  [[nodiscard]] executorch::runtime::Error execute(
      executorch::runtime::BackendExecutionContext& context,
      executorch::runtime::DelegateHandle* handle,
      executorch::runtime::Span<executorch::runtime::EValue*> args) const override;

  /// With kResetOption, a bool that is true, each handle clears its state at the beginning of its
  /// next execute(). Call it between executions. Errors, with which nothing changes:
  /// InvalidArgument for another key, or a value that is no bool; NotSupported on a 64-bit host with
  /// Config::arena_at_init, where handles have no room to tell one reset from the next.
  [[nodiscard]] executorch::runtime::Error set_option(
      executorch::runtime::BackendOptionContext& context,
      const executorch::runtime::Span<executorch::runtime::BackendOption>& options) override;

 private:
  /// Where a handle has the number of the last reset that it has seen: without a list of handles,
  /// which would need memory, each compares it with `resets_`. Null if there is nothing to reset.
  std::uint32_t* seen_by(executorch::runtime::DelegateHandle* handle) const;

  std::uint32_t resets_ = 0;
};

/// Registers the backend under kBackendId, so that programs that name it can be loaded.
/// Call it once, from main() before loading a program: on a device nothing registers itself from
/// a static constructor. `kernels` is usually kTunedAndCmsisNnKernels; it must live
/// as long as the program.
///
/// Returns the error of ExecuTorch's register_backend(): InvalidArgument if the name is taken.
[[nodiscard]] executorch::runtime::Error register_cmsis_nn_backend(const KernelTable& kernels,
                                                                   Config config = {});

}  // namespace cmsis_nn_delegate
