#include "runtime/kernels/conv2d/conv2d_pairs.h"

#include "runtime/kernels/common/pair_products_dsp.h"
#include "runtime/kernels/common/pair_products_scalar.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_conv2d_pairs(const void* args, const Bases& bases) {
  return portable::compute_conv2d_pairs<
      DspOrScalar<DspPairProducts, ScalarPairProducts, portable::PlainPairProducts>,
      payload::Conv2dPairsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dPairs> kConv2dPairs =
    portable::conv2d_pairs_kernel(run_conv2d_pairs);

}  // namespace cmsis_nn_delegate::tuned
