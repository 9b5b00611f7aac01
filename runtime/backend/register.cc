#include "runtime/backend/register.h"

#include <new>
#include <variant>

#include <executorch/runtime/platform/log.h>

namespace cmsis_nn_delegate {

using executorch::runtime::BackendOption;
using executorch::runtime::DelegateHandle;
using executorch::runtime::Error;
using executorch::runtime::Span;

namespace {

/// Whether handles have room for the number of a reset: on a 64-bit host, with Config::arena_at_init
/// the arena's address lies there.
bool counts_resets(const Config& config) { return sizeof(void*) == 4 || !config.arena_at_init; }

/// Whether the `key` of an option is kResetOption. Keys need not end with a zero. Avoids strcmp().
bool is_reset(const char (&key)[executorch::runtime::kMaxOptionKeyLength]) {
  for (std::size_t i = 0; i < sizeof(kResetOption); ++i) {
    if (key[i] != kResetOption[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

executorch::runtime::Result<DelegateHandle*> RegisteredBackend::init(
    executorch::runtime::BackendInitContext& context,
    executorch::runtime::FreeableBuffer* processed,
    executorch::runtime::ArrayRef<executorch::runtime::CompileSpec> compile_specs) const {
  auto handle = CmsisNnBackend::init(context, processed, compile_specs);
  std::uint32_t* const seen = handle.ok() ? seen_by(*handle) : nullptr;
  if (seen != nullptr) {
    *seen = resets_;
  }
  return handle;
}

Error RegisteredBackend::execute(executorch::runtime::BackendExecutionContext& context,
                                 DelegateHandle* handle,
                                 Span<executorch::runtime::EValue*> args) const {
  std::uint32_t* const seen = seen_by(handle);
  if (seen != nullptr && *seen != resets_) {
    *seen = resets_;
    const Error error = reset(handle);
    if (error != Error::Ok) {
      return error;
    }
  }
  return CmsisNnBackend::execute(context, handle, args);
}

Error RegisteredBackend::set_option(executorch::runtime::BackendOptionContext& /*context*/,
                                    const Span<BackendOption>& options) {
  bool resets = false;
  for (const BackendOption& option : options) {
    const bool* const value = std::get_if<bool>(&option.value);
    if (!is_reset(option.key) || value == nullptr) {
      ET_LOG(Error, "%s has one option, \"%s\", a bool; it was given \"%.*s\" with type %zu",
             kBackendId, kResetOption, static_cast<int>(sizeof(option.key)), option.key,
             option.value.index());
      return Error::InvalidArgument;
    }
    resets |= *value;
  }
  if (resets && !counts_resets(config())) {
    ET_LOG(Error, "on a 64-bit host \"%s\" needs a backend without Config::arena_at_init",
           kResetOption);
    return Error::NotSupported;
  }
  resets_ += resets ? 1 : 0;
  return Error::Ok;
}

std::uint32_t* RegisteredBackend::seen_by(DelegateHandle* handle) const {
  return counts_resets(config()) ? spare_of(handle) : nullptr;
}

Error register_cmsis_nn_backend(const KernelTable& kernels, Config config) {
  // Static storage that needs neither a destructor at exit nor a guard for construction.
  alignas(RegisteredBackend) static unsigned char storage[sizeof(RegisteredBackend)];
  if (executorch::runtime::get_backend_class(kBackendId) != nullptr) {
    return Error::InvalidArgument;  // the storage may be in use
  }
  auto* backend = new (storage) RegisteredBackend(kernels, config);
  return executorch::runtime::register_backend({kBackendId, backend});
}

}  // namespace cmsis_nn_delegate
