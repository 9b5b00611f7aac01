#include "runtime/kernels/conv2d/conv2d_pairs.h"

#include "runtime/kernels/common/pair_products_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_grouped_pairs(const void* args, const Bases& bases) {
  return portable::compute_conv2d_grouped_pairs<DspOr<DspPairProducts, portable::PlainPairProducts>,
                                                payload::Conv2dGroupedPairsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dGroupedPairs> kConv2dGroupedPairs =
    portable::conv2d_grouped_pairs_kernel(run_conv2d_grouped_pairs);

}  // namespace cmsis_nn_delegate::tuned
