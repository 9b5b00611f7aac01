#include "runtime/kernels/common/vector_windows.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_vectors(const void* args, const Bases& bases) {
  return compute_conv2d_vectors<PlainVectorProducts, payload::Conv2dVectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dVectors> kConv2dVectors =
    conv2d_vectors_kernel<std::int8_t, payload::Conv2dVectorsArgs>(operators::kConv2dVectors,
                                                                   run_conv2d_vectors);

}  // namespace cmsis_nn_delegate::portable
