#include "runtime/kernels/common/vector_windows.h"

#include "runtime/kernels/common/vector_products_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_vectors(const void* args, const Bases& bases) {
  return portable::compute_conv2d_vectors<MveOr<MveVectorProducts, portable::PlainVectorProducts>,
                                          payload::Conv2dVectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dVectors> kConv2dVectors =
    portable::conv2d_vectors_kernel<std::int8_t, payload::Conv2dVectorsArgs>(
        operators::kConv2dVectors, run_conv2d_vectors);

}  // namespace cmsis_nn_delegate::tuned
