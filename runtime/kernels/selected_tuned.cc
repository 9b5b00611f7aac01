#include "runtime/kernels/selected.h"

#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {

const KernelTable& selected_kernels() { return kTunedKernels; }

}  // namespace cmsis_nn_delegate
