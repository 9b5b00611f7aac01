#include "runtime/kernels/conv2d/conv2d_int4_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_int4_vectors_int16(const void* args, const Bases& bases) {
  return compute_conv2d_vectors<PlainNibbleVectorProductsInt16, payload::Conv2dVectorsInt16Args>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dInt4VectorsInt16> kConv2dInt4VectorsInt16 =
    conv2d_int4_vectors_int16_kernel(run_conv2d_int4_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
