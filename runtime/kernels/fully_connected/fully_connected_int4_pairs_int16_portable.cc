#include "runtime/kernels/common/row_products_int16.h"
#include "runtime/kernels/fully_connected/fully_connected_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_int4_pairs_int16(const void* args, const Bases& bases) {
  return compute_fully_connected_pairs<PlainNibbleRowProductsInt16,
                                       payload::FullyConnectedInt4PairsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4PairsInt16> kFullyConnectedInt4PairsInt16 =
    fully_connected_int4_pairs_int16_kernel(run_fully_connected_int4_pairs_int16);

}  // namespace cmsis_nn_delegate::portable
