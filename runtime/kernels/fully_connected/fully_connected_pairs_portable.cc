#include "runtime/kernels/fully_connected/fully_connected_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_pairs(const void* args, const Bases& bases) {
  return compute_fully_connected_pairs<PlainRowProducts, payload::FullyConnectedPairsArgs>(args,
                                                                                           bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedPairs> kFullyConnectedPairs =
    fully_connected_pairs_kernel(run_fully_connected_pairs);

}  // namespace cmsis_nn_delegate::portable
