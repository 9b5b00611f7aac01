#include "runtime/kernels/common/vector_products_int16_mve.h"
#include "runtime/kernels/conv2d/conv2d_int4_vectors.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_int4_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_conv2d_vectors<
      MveOr<MveNibbleVectorProductsInt16, portable::PlainNibbleVectorProductsInt16>,
      payload::Conv2dVectorsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dInt4VectorsInt16> kConv2dInt4VectorsInt16 =
    portable::conv2d_int4_vectors_int16_kernel(run_conv2d_int4_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
