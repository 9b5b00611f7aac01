#include "runtime/kernels/common/vector_products_mve.h"
#include "runtime/kernels/conv2d/conv2d_int4_vectors.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_int4_vectors(const void* args, const Bases& bases) {
  return portable::compute_conv2d_vectors<
      MveOr<MveNibbleVectorProducts, portable::PlainNibbleVectorProducts>,
      payload::Conv2dVectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dInt4Vectors> kConv2dInt4Vectors =
    portable::conv2d_int4_vectors_kernel(run_conv2d_int4_vectors);

}  // namespace cmsis_nn_delegate::tuned
