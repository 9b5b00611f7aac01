#include "runtime/kernels/common/vector_windows.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_grouped_vectors(const void* args, const Bases& bases) {
  return compute_conv2d_grouped_vectors<PlainVectorProducts, payload::Conv2dGroupedVectorsArgs>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dGroupedVectors> kConv2dGroupedVectors =
    conv2d_grouped_vectors_kernel<std::int8_t, payload::Conv2dGroupedVectorsArgs>(
        operators::kConv2dGroupedVectors, run_conv2d_grouped_vectors);

}  // namespace cmsis_nn_delegate::portable
