// The convolution of conv2d_vectors.h with weights of 4 bits, of which a word of the table has twice as many.
#pragma once

#include <cstddef>

#include "runtime/kernels/common/vector_windows.h"

namespace cmsis_nn_delegate::portable {

// Calls are read as those of 8 bits.
template <typename NibbleArgs, typename Args>
inline constexpr bool kSameArgs =
    sizeof(NibbleArgs) == sizeof(Args) && offsetof(NibbleArgs, form) == offsetof(Args, form) &&
    offsetof(NibbleArgs, output_dims) == offsetof(Args, output_dims);
static_assert(kSameArgs<payload::Conv2dInt4VectorsArgs, payload::Conv2dVectorsArgs> &&
                  kSameArgs<payload::Conv2dInt4VectorsInt16Args, payload::Conv2dVectorsInt16Args>,
              "the argument blocks differ");

/// Returns the kernel whose `run` calls compute_conv2d_vectors() with products of weights of 4 bits.
constexpr Kernel conv2d_int4_vectors_kernel(Kernel::Run run) {
  return conv2d_vectors_kernel<std::int8_t, payload::Conv2dVectorsArgs, 4>(
      operators::kConv2dInt4Vectors, run);
}

/// The same for int16.
constexpr Kernel conv2d_int4_vectors_int16_kernel(Kernel::Run run) {
  return conv2d_vectors_kernel<std::int16_t, payload::Conv2dVectorsInt16Args, 4>(
      operators::kConv2dInt4VectorsInt16, run);
}

}  // namespace cmsis_nn_delegate::portable
