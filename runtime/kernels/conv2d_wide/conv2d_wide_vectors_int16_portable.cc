#include "runtime/kernels/conv2d_wide/wide_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_wide_vectors_int16(const void* args, const Bases& bases) {
  return compute_conv2d_wide_vectors<PlainWideVectorProductsInt16>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dWideVectorsInt16> kConv2dWideVectorsInt16 =
    conv2d_wide_vectors_kernel(run_conv2d_wide_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
