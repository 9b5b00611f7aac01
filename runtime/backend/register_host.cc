// Registers the backend with the portable kernels when the host library is loaded.
#include <executorch/runtime/platform/log.h>

#include "runtime/backend/register.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace {

bool register_at_load() {
  const executorch::runtime::Error error =
      register_cmsis_nn_backend(kPortableKernels, Config{/*verify_crc=*/true});
  if (error != executorch::runtime::Error::Ok) {
    ET_LOG(Error, "cannot register %s: 0x%x", kBackendId, static_cast<unsigned>(error));
  }
  return error == executorch::runtime::Error::Ok;
}

[[maybe_unused]] const bool registered = register_at_load();

}  // namespace
}  // namespace cmsis_nn_delegate
