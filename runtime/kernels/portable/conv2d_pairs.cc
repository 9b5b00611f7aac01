#include "runtime/kernels/portable/conv2d_pairs.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kConv2dPairs> kConv2dPairs =
    conv2d_pairs_kernel<PlainPairProducts>();

Error conv2d_pairs(const payload::Conv2dPairsArgs& args, const Bases& bases) {
  return kConv2dPairs.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
