#include "runtime/kernels/conv2d/conv2d_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_int4_wide_pairs(const void* args, const Bases& bases) {
  return compute_conv2d_pairs<PlainWideNibblePairProducts, payload::Conv2dInt4WidePairsArgs>(args,
                                                                                             bases);
}

constexpr KernelOf<payload::Opcode::kConv2dInt4WidePairs> kConv2dInt4WidePairs =
    conv2d_int4_wide_pairs_kernel(run_conv2d_int4_wide_pairs);

}  // namespace cmsis_nn_delegate::portable
