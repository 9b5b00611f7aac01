#include "runtime/kernels/common/vector_windows.h"

#include "runtime/kernels/common/vector_products_int16_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_grouped_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_conv2d_grouped_vectors<
      MveOr<MveVectorProductsInt16, portable::PlainVectorProductsInt16>,
      payload::Conv2dGroupedVectorsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dGroupedVectorsInt16> kConv2dGroupedVectorsInt16 =
    portable::conv2d_grouped_vectors_kernel<std::int16_t, payload::Conv2dGroupedVectorsInt16Args>(
        operators::kConv2dGroupedVectorsInt16, run_conv2d_grouped_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
