// The convolution of conv2d_vectors.h with weights of 4 bits, of which a word of the table has twice as many.
#pragma once

#include <cstddef>

#include "runtime/kernels/conv2d/conv2d_vectors.h"

namespace cmsis_nn_delegate::portable {

// Calls are read as those of 8 bits.
static_assert(sizeof(payload::Conv2dInt4VectorsArgs) == sizeof(payload::Conv2dVectorsArgs) &&
                  offsetof(payload::Conv2dInt4VectorsArgs, form) ==
                      offsetof(payload::Conv2dVectorsArgs, form) &&
                  offsetof(payload::Conv2dInt4VectorsArgs, output_dims) ==
                      offsetof(payload::Conv2dVectorsArgs, output_dims),
              "the argument blocks differ");

/// Returns the kernel whose `run` calls compute_conv2d_vectors() with products of weights of 4 bits.
constexpr Kernel conv2d_int4_vectors_kernel(Kernel::Run run) {
  return conv2d_vectors_kernel<std::int8_t, payload::Conv2dVectorsArgs, 4>(
      operators::kConv2dInt4Vectors, run);
}

}  // namespace cmsis_nn_delegate::portable
