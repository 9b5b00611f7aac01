#include "runtime/kernels/common/vector_windows.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_grouped_vectors_int16(const void* args, const Bases& bases) {
  return compute_conv2d_grouped_vectors<PlainVectorProductsInt16,
                                        payload::Conv2dGroupedVectorsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dGroupedVectorsInt16> kConv2dGroupedVectorsInt16 =
    conv2d_grouped_vectors_kernel<std::int16_t, payload::Conv2dGroupedVectorsInt16Args>(
        operators::kConv2dGroupedVectorsInt16, run_conv2d_grouped_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
