#include "runtime/kernels/common/vector_windows.h"

#include "runtime/kernels/common/vector_products_int16_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_conv2d_vectors<
      MveOr<MveVectorProductsInt16, portable::PlainVectorProductsInt16>,
      payload::Conv2dVectorsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dVectorsInt16> kConv2dVectorsInt16 =
    portable::conv2d_vectors_kernel<std::int16_t, payload::Conv2dVectorsInt16Args>(
        operators::kConv2dVectorsInt16, run_conv2d_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
