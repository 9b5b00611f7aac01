#include "runtime/kernels/conv2d/conv2d_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_grouped_pairs(const void* args, const Bases& bases) {
  return compute_conv2d_grouped_pairs<PlainPairProducts, payload::Conv2dGroupedPairsArgs>(args,
                                                                                          bases);
}

constexpr KernelOf<payload::Opcode::kConv2dGroupedPairs> kConv2dGroupedPairs =
    conv2d_grouped_pairs_kernel(run_conv2d_grouped_pairs);

}  // namespace cmsis_nn_delegate::portable
