#include "runtime/backend/register.h"

#include <new>

namespace cmsis_nn_delegate {

executorch::runtime::Error register_cmsis_nn_backend(const KernelTable& kernels, Config config) {
  // Static storage that needs neither a destructor at exit nor a guard for construction.
  alignas(CmsisNnBackend) static unsigned char storage[sizeof(CmsisNnBackend)];
  if (executorch::runtime::get_backend_class(kBackendId) != nullptr) {
    return executorch::runtime::Error::InvalidArgument;  // the storage may be in use
  }
  auto* backend = new (storage) CmsisNnBackend(kernels, config);
  return executorch::runtime::register_backend({kBackendId, backend});
}

}  // namespace cmsis_nn_delegate
