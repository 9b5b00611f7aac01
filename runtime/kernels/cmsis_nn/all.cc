#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {

constexpr KernelTable kCmsisNnKernels = {
    payload::kKernelRevision,
    isa_set(kCompiledIsa),  // of which scratch sizes are
    "cmsis-nn",
    {
        cmsis_nn::kAdd,
        cmsis_nn::kAvgPool2d,
        cmsis_nn::kConv2d,
        cmsis_nn::kDepthwiseConv2d,
        portable::kDequantize,
        cmsis_nn::kFullyConnected,
        cmsis_nn::kFullyConnectedPerTensor,
        cmsis_nn::kMaxPool2d,
        portable::kQuantize,
        cmsis_nn::kSoftmax,
        portable::kTranspose,
    },
};

}  // namespace cmsis_nn_delegate
