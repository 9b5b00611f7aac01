#include "runtime/kernels/conv2d/conv2d_int4_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_int4_vectors(const void* args, const Bases& bases) {
  return compute_conv2d_vectors<PlainNibbleVectorProducts, payload::Conv2dVectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dInt4Vectors> kConv2dInt4Vectors =
    conv2d_int4_vectors_kernel(run_conv2d_int4_vectors);

}  // namespace cmsis_nn_delegate::portable
