#include "runtime/kernels/common/pair_products_dsp.h"
#include "runtime/kernels/conv2d/conv2d_pairs.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_int4_wide_pairs(const void* args, const Bases& bases) {
  return portable::compute_conv2d_pairs<
      DspOr<DspWideNibblePairProducts, portable::PlainWideNibblePairProducts>,
      payload::Conv2dInt4WidePairsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dInt4WidePairs> kConv2dInt4WidePairs =
    portable::conv2d_int4_wide_pairs_kernel(run_conv2d_int4_wide_pairs);

}  // namespace cmsis_nn_delegate::tuned
