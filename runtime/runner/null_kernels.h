// Kernels that do nothing: what remains is the delegate's own cost.
#pragma once

#include "runtime/kernels/kernel.h"

namespace cmsis_nn_delegate {
namespace runner {

/// Takes the same payloads as the other tables of this build.
extern const KernelTable kNullKernels;

}  // namespace runner
}  // namespace cmsis_nn_delegate
