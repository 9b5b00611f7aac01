#include "runtime/kernels/common/pair_products_int16.h"
#include "runtime/kernels/conv2d/conv2d_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_int4_pairs_int16(const void* args, const Bases& bases) {
  return compute_conv2d_pairs<PlainNibblePairProductsInt16, payload::Conv2dInt4PairsInt16Args>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dInt4PairsInt16> kConv2dInt4PairsInt16 =
    conv2d_int4_pairs_int16_kernel(run_conv2d_int4_pairs_int16);

}  // namespace cmsis_nn_delegate::portable
