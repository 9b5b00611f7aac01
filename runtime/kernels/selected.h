// The kernels that this build is configured with; see //runtime/kernels:selected.
#pragma once

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {

/// All kernels of the chosen table. Images that need only a few use a table of their own.
const KernelTable& selected_kernels();

}  // namespace cmsis_nn_delegate
