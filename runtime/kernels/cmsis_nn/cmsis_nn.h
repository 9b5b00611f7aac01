// Kernels of CMSIS-NN at payload::kCmsisNnCommit: thin calls that hand the payload's blocks on.
//
// On a Cortex-M they take the payloads of its instruction set. On other CPUs CMSIS-NN is plain C and
// takes payloads of Isa::kScalar only: scratch sizes depend on the instruction set.
//
// Quantize and dequantize are the portable kernels, as CMSIS-NN has none. So is transpose:
// arm_transpose_s8 counts in 16 bits what a payload counts in 32, and without MVE computes four
// products for every byte that it moves.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>

#include "runtime/kernels/kernel.h"

namespace cmsis_nn_delegate {

/// Every kernel; those that CMSIS-NN lacks are portable ones.
extern const KernelTable kCmsisNnKernels;

namespace cmsis_nn {

using executorch::runtime::Error;

Error conv2d(const void* args, std::uint8_t* const* bases);
Error depthwise_conv2d(const void* args, std::uint8_t* const* bases);
Error fully_connected(const void* args, std::uint8_t* const* bases);
Error add(const void* args, std::uint8_t* const* bases);
Error avg_pool2d(const void* args, std::uint8_t* const* bases);
Error max_pool2d(const void* args, std::uint8_t* const* bases);
Error softmax(const void* args, std::uint8_t* const* bases);

}  // namespace cmsis_nn
}  // namespace cmsis_nn_delegate
