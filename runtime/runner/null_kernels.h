// Kernels that do nothing, to measure the delegate's own cost.
#pragma once

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate::runner {

/// Accepts the payloads that the other tables of this build accept, and needs no scratch memory.
extern const KernelTable kNullKernels;

}  // namespace cmsis_nn_delegate::runner
