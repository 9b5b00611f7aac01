// Kernels that do nothing: what remains is the delegate's own cost.
#pragma once

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {
namespace runner {

/// Takes the payloads that the other tables of this build take, and asks for no scratch memory.
extern const KernelTable kNullKernels;

}  // namespace runner
}  // namespace cmsis_nn_delegate
