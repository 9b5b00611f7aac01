// Registration of the backend with ExecuTorch's runtime.
#pragma once

#include <executorch/runtime/core/error.h>

#include "runtime/backend/cmsis_nn_backend.h"

namespace cmsis_nn_delegate {

/// Registers the backend under kBackendId, so that programs that name it can be loaded.
/// Call it once, from main() before loading a program: on a device nothing registers itself from
/// a static constructor. `kernels` is usually kTunedAndCmsisNnKernels; it must live
/// as long as the program.
///
/// Returns the error of ExecuTorch's register_backend(): InvalidArgument if the name is taken.
[[nodiscard]] executorch::runtime::Error register_cmsis_nn_backend(const KernelTable& kernels,
                                                                   Config config = {});

}  // namespace cmsis_nn_delegate
