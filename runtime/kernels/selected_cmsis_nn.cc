#include "runtime/kernels/selected.h"

#include "runtime/kernels/cmsis_nn/cmsis_nn.h"

namespace cmsis_nn_delegate {

const KernelTable& selected_kernels() { return kCmsisNnKernels; }

}  // namespace cmsis_nn_delegate
