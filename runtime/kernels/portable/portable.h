// Kernels in plain C++, bit-exact with CMSIS-NN at payload::kCmsisNnCommit.
//
// They need no instruction set extension, no FPU, no unaligned access and no scratch
// memory, and do not depend on the ISA of the payload. They are the reference on the
// host and the kernels of builds without CMSIS-NN; they are not tuned for speed beyond
// keeping the inner loops contiguous.
#pragma once

#include <cstdint>

#include <executorch/runtime/core/error.h>

#include "runtime/kernels/kernel.h"

namespace cmsis_nn_delegate {

/// Every portable kernel.
extern const KernelTable kPortableKernels;

namespace portable {

using executorch::runtime::Error;

Error conv2d(const void* args, std::uint8_t* const* bases);
Error depthwise_conv2d(const void* args, std::uint8_t* const* bases);
Error fully_connected(const void* args, std::uint8_t* const* bases);
Error fully_connected_per_tensor(const void* args, std::uint8_t* const* bases);
Error avg_pool2d(const void* args, std::uint8_t* const* bases);
Error max_pool2d(const void* args, std::uint8_t* const* bases);
Error softmax(const void* args, std::uint8_t* const* bases);
Error quantize(const void* args, std::uint8_t* const* bases);
Error dequantize(const void* args, std::uint8_t* const* bases);
Error transpose(const void* args, std::uint8_t* const* bases);

// The planner stores a sum over one of its inputs.
Error run_add(const void* args, std::uint8_t* const* bases);
inline constexpr Kernel add = Kernel(run_add).in_place();

}  // namespace portable
}  // namespace cmsis_nn_delegate
