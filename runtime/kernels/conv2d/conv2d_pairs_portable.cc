#include "runtime/kernels/conv2d/conv2d_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_pairs(const void* args, const Bases& bases) {
  return compute_conv2d_pairs<PlainPairProducts, payload::Conv2dPairsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dPairs> kConv2dPairs =
    conv2d_pairs_kernel(run_conv2d_pairs);

}  // namespace cmsis_nn_delegate::portable
