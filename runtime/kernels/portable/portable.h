// Kernels in plain C++, bit-exact with CMSIS-NN at payload::kCmsisNnCommit.
//
// They need no instruction set extension, no FPU, no unaligned access and no scratch
// memory, and do not depend on the ISA of the payload. They are the reference on the
// host and the kernels of builds without CMSIS-NN; they are not tuned for speed beyond
// keeping the inner loops contiguous.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>

#include "runtime/payload/kernel.h"

namespace cmsis_nn_delegate {

/// Every portable kernel.
extern const KernelTable kPortableKernels;

namespace portable {

using executorch::runtime::Error;

// Each takes all that format.h allows for its operator.

/// Convolution with groups and dilation: a sum of products per output, int32.
Error run_conv2d(const void* args, const Bases& bases);
inline constexpr Kernel kConv2d{operators::kConv2d, run_conv2d};

/// Convolution of each channel with ch_mult filters of its own.
Error run_depthwise_conv2d(const void* args, const Bases& bases);
inline constexpr Kernel kDepthwiseConv2d{operators::kDepthwiseConv2d, run_depthwise_conv2d};

/// Linear layer with a multiplier and shift per output.
Error run_fully_connected(const void* args, const Bases& bases);
inline constexpr Kernel kFullyConnected{operators::kFullyConnected, run_fully_connected};

/// Linear layer with one multiplier and shift.
Error run_fully_connected_per_tensor(const void* args, const Bases& bases);
inline constexpr Kernel kFullyConnectedPerTensor{operators::kFullyConnectedPerTensor,
                                                 run_fully_connected_per_tensor};

/// Sum of two tensors of one shape. The planner stores it over one of its inputs.
Error run_add(const void* args, const Bases& bases);
inline constexpr Kernel kAdd = Kernel(operators::kAdd, run_add).in_place();

/// Mean over windows, rounded half away from zero; the padding does not count.
Error run_avg_pool2d(const void* args, const Bases& bases);
inline constexpr Kernel kAvgPool2d{operators::kAvgPool2d, run_avg_pool2d};

/// Maximum over windows.
Error run_max_pool2d(const void* args, const Bases& bases);
inline constexpr Kernel kMaxPool2d{operators::kMaxPool2d, run_max_pool2d};

/// Softmax of each row, in fixed point as TFLite computes it.
Error run_softmax(const void* args, const Bases& bases);
inline constexpr Kernel kSoftmax{operators::kSoftmax, run_softmax};

/// float32 to int8, with channels moved to the end where there is more than one.
Error run_quantize(const void* args, const Bases& bases);
inline constexpr Kernel kQuantize{operators::kQuantize, run_quantize};

/// int8 to float32, with channels moved to the front where there is more than one.
Error run_dequantize(const void* args, const Bases& bases);
inline constexpr Kernel kDequantize{operators::kDequantize, run_dequantize};

/// Rows and columns exchanged, or a copy.
Error run_transpose(const void* args, const Bases& bases);
inline constexpr Kernel kTranspose{operators::kTranspose, run_transpose};

}  // namespace portable
}  // namespace cmsis_nn_delegate
