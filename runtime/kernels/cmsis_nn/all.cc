#include "runtime/kernels/cmsis_nn/cmsis_nn.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {

const KernelTable kCmsisNnKernels = {
    payload::kKernelRevision,
    isa_set(kCompiledIsa),  // of which scratch sizes are
    "cmsis-nn",
    {
        nullptr,  // opcode 0 is never valid
        cmsis_nn::conv2d,
        cmsis_nn::depthwise_conv2d,
        cmsis_nn::fully_connected,
        cmsis_nn::add,
        cmsis_nn::avg_pool2d,
        cmsis_nn::max_pool2d,
        cmsis_nn::softmax,
        portable::quantize,
        portable::dequantize,
        portable::transpose,
        cmsis_nn::fully_connected_per_tensor,
    },
};

// The list above is positional.
static_assert(static_cast<int>(payload::Opcode::kConv2d) == 1 &&
                  static_cast<int>(payload::Opcode::kDepthwiseConv2d) == 2 &&
                  static_cast<int>(payload::Opcode::kFullyConnected) == 3 &&
                  static_cast<int>(payload::Opcode::kAdd) == 4 &&
                  static_cast<int>(payload::Opcode::kAvgPool2d) == 5 &&
                  static_cast<int>(payload::Opcode::kMaxPool2d) == 6 &&
                  static_cast<int>(payload::Opcode::kSoftmax) == 7 &&
                  static_cast<int>(payload::Opcode::kQuantize) == 8 &&
                  static_cast<int>(payload::Opcode::kDequantize) == 9 &&
                  static_cast<int>(payload::Opcode::kTranspose) == 10 &&
                  static_cast<int>(payload::Opcode::kFullyConnectedPerTensor) == 11 &&
                  payload::kOpcodeCount == 12,
              "the kernels are listed in the order of their opcodes");

}  // namespace cmsis_nn_delegate
