#include "tests/fuzz/kernels.h"

#ifdef WITH_CMSIS_NN
#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#else
#include "runtime/kernels/portable/portable.h"
#endif

namespace cmsis_nn_delegate::fuzz {

const KernelTable& tested_kernels() {
#ifdef WITH_CMSIS_NN
  return kCmsisNnKernels;
#else
  return kPortableKernels;
#endif
}

}  // namespace cmsis_nn_delegate::fuzz
