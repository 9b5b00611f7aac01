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

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {

/// Every kernel; those that CMSIS-NN lacks are portable ones.
extern const KernelTable kCmsisNnKernels;

namespace cmsis_nn {

using executorch::runtime::Error;

// A table names these kernels together with what validation has to know of them: the scratch memory that
// they need, which is that of CMSIS-NN's arm_*_get_buffer_size; what they can compute, see rules.h; and
// what they load behind their constants, see README.md.
Error run_conv2d(const void* args, const Bases& bases);
std::uint32_t conv2d_scratch_bytes(const void* args);
bool conv2d_accepts(const void* args);
inline constexpr Kernel kConv2d =
    Kernel(operators::kConv2d, run_conv2d, conv2d_scratch_bytes)
        .limited_to(conv2d_accepts)
        .reading_behind(payload::reads_behind(kCompiledIsa, payload::Opcode::kConv2d));

Error run_depthwise_conv2d(const void* args, const Bases& bases);
std::uint32_t depthwise_conv2d_scratch_bytes(const void* args);
bool depthwise_conv2d_accepts(const void* args);
inline constexpr Kernel kDepthwiseConv2d =
    Kernel(operators::kDepthwiseConv2d, run_depthwise_conv2d, depthwise_conv2d_scratch_bytes)
        .limited_to(depthwise_conv2d_accepts)
        .reading_behind(payload::reads_behind(kCompiledIsa, payload::Opcode::kDepthwiseConv2d));

Error run_fully_connected(const void* args, const Bases& bases);
inline constexpr Kernel kFullyConnected{operators::kFullyConnected, run_fully_connected};

Error run_fully_connected_per_tensor(const void* args, const Bases& bases);
inline constexpr Kernel kFullyConnectedPerTensor{operators::kFullyConnectedPerTensor,
                                                 run_fully_connected_per_tensor};

// The planner stores a sum over one of its inputs: arm_elementwise_add_s8 reads every element, or group of
// four, before it writes that.
Error run_add(const void* args, const Bases& bases);
inline constexpr Kernel kAdd = Kernel(operators::kAdd, run_add).in_place();

Error run_avg_pool2d(const void* args, const Bases& bases);
std::uint32_t avg_pool2d_scratch_bytes(const void* args);
inline constexpr Kernel kAvgPool2d{operators::kAvgPool2d, run_avg_pool2d, avg_pool2d_scratch_bytes};

Error run_max_pool2d(const void* args, const Bases& bases);
inline constexpr Kernel kMaxPool2d{operators::kMaxPool2d, run_max_pool2d};

Error run_softmax(const void* args, const Bases& bases);
bool softmax_accepts(const void* args);
inline constexpr Kernel kSoftmax =
    Kernel(operators::kSoftmax, run_softmax).limited_to(softmax_accepts);

}  // namespace cmsis_nn
}  // namespace cmsis_nn_delegate
