#include "runtime/kernels/conv2d/conv2d_pairs.h"

#include "runtime/kernels/common/pair_products_int16_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_grouped_pairs_int16(const void* args, const Bases& bases) {
  return portable::compute_conv2d_grouped_pairs<
      DspOr<DspPairProductsInt16, portable::PlainPairProductsInt16>,
      payload::Conv2dGroupedPairsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dGroupedPairsInt16> kConv2dGroupedPairsInt16 =
    portable::conv2d_grouped_pairs_int16_kernel(run_conv2d_grouped_pairs_int16);

}  // namespace cmsis_nn_delegate::tuned
