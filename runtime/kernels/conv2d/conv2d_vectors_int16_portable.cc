#include "runtime/kernels/common/vector_windows.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_vectors_int16(const void* args, const Bases& bases) {
  return compute_conv2d_vectors<PlainVectorProductsInt16, payload::Conv2dVectorsInt16Args>(args,
                                                                                           bases);
}

constexpr KernelOf<payload::Opcode::kConv2dVectorsInt16> kConv2dVectorsInt16 =
    conv2d_vectors_kernel<std::int16_t, payload::Conv2dVectorsInt16Args>(
        operators::kConv2dVectorsInt16, run_conv2d_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
