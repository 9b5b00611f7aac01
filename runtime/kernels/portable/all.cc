#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {

constexpr KernelTable kPortableKernels = {
    payload::kKernelRevision,
    kAcceptedIsas,
    "portable",
    {
        portable::kAdd,
        portable::kAvgPool2d,
        portable::kConv2d,
        portable::kDepthwiseConv2d,
        portable::kDequantize,
        portable::kFullyConnected,
        portable::kFullyConnectedPerTensor,
        portable::kMaxPool2d,
        portable::kQuantize,
        portable::kSoftmax,
        portable::kTranspose,
    },
};

}  // namespace cmsis_nn_delegate
