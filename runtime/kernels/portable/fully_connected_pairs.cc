#include "runtime/kernels/portable/fully_connected_pairs.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kFullyConnectedPairs> kFullyConnectedPairs =
    fully_connected_pairs_kernel<PlainRowProducts>();

Error fully_connected_pairs(const payload::FullyConnectedPairsArgs& args, const Bases& bases) {
  return kFullyConnectedPairs.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
