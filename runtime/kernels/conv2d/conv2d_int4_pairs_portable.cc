#include "runtime/kernels/conv2d/conv2d_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_int4_pairs(const void* args, const Bases& bases) {
  return compute_conv2d_pairs<PlainNibblePairProducts, payload::Conv2dInt4PairsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dInt4Pairs> kConv2dInt4Pairs =
    conv2d_int4_pairs_kernel(run_conv2d_int4_pairs);

}  // namespace cmsis_nn_delegate::portable
