#include "runtime/kernels/selected.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {

const KernelTable& selected_kernels() { return kPortableKernels; }

}  // namespace cmsis_nn_delegate
