#include "runtime/kernels/fully_connected_groups/group_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_int4_groups_pairs(const void* args, const Bases& bases) {
  return compute_group_pairs<PlainGroupPairs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4GroupsPairs> kFullyConnectedInt4GroupsPairs =
    group_pairs_kernel(run_fully_connected_int4_groups_pairs);

}  // namespace cmsis_nn_delegate::portable
