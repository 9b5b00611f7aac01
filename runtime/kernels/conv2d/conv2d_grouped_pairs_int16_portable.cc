#include "runtime/kernels/common/pair_products_int16.h"
#include "runtime/kernels/conv2d/conv2d_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_grouped_pairs_int16(const void* args, const Bases& bases) {
  return compute_conv2d_grouped_pairs<PlainPairProductsInt16, payload::Conv2dGroupedPairsInt16Args>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dGroupedPairsInt16> kConv2dGroupedPairsInt16 =
    conv2d_grouped_pairs_int16_kernel(run_conv2d_grouped_pairs_int16);

}  // namespace cmsis_nn_delegate::portable
