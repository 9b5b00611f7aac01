#include "runtime/kernels/fully_connected/fully_connected_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_int4_pairs(const void* args, const Bases& bases) {
  return compute_fully_connected_pairs<PlainNibbleRowProducts,
                                       payload::FullyConnectedInt4PairsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4Pairs> kFullyConnectedInt4Pairs =
    fully_connected_int4_pairs_kernel(run_fully_connected_int4_pairs);

}  // namespace cmsis_nn_delegate::portable
