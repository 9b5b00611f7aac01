#include "runtime/kernels/conv2d_wide/wide_vectors.h"
#include "runtime/kernels/conv2d_wide/wide_vectors_int16_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_wide_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_conv2d_wide_vectors<
      MveOr<MveWideVectorProductsInt16, portable::PlainWideVectorProductsInt16>>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dWideVectorsInt16> kConv2dWideVectorsInt16 =
    portable::conv2d_wide_vectors_kernel(run_conv2d_wide_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
