#include "runtime/kernels/common/row_products_int16.h"
#include "runtime/kernels/fully_connected/fully_connected_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_pairs_int16(const void* args, const Bases& bases) {
  return compute_fully_connected_pairs<PlainRowProductsInt16,
                                       payload::FullyConnectedPairsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedPairsInt16> kFullyConnectedPairsInt16 =
    fully_connected_pairs_int16_kernel(run_fully_connected_pairs_int16);

}  // namespace cmsis_nn_delegate::portable
