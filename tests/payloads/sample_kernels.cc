// The kernels of the sample, portable ones, and the tuned ones of images for Isa::kScalar.
#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/selected.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace {

constexpr KernelTable kKernels = {
    portable::kProvider,
    {
        portable::kQuantize,
        portable::kConv2d,
        portable::kDepthwiseConv2d,
        portable::kAdd,
        portable::kAvgPool2d,
        portable::kMaxPool2d,
        portable::kTranspose,
        portable::kFullyConnected,
        portable::kFullyConnectedPerTensor,
        portable::kSoftmax,
        portable::kDequantize,
        tuned::kConv2dPairs,
        tuned::kFullyConnectedPairs,
        tuned::kDepthwiseConv2dRows,
    },
};

}  // namespace

const KernelTable& selected_kernels() { return kKernels; }

}  // namespace cmsis_nn_delegate
