#include "runtime/kernels/fully_connected_groups/fully_connected_int4_groups_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_int4_groups_vectors(const void* args, const Bases& bases) {
  return compute_group_vectors<PlainGroupVectors>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4GroupsVectors>
    kFullyConnectedInt4GroupsVectors =
        group_vectors_kernel(run_fully_connected_int4_groups_vectors);

}  // namespace cmsis_nn_delegate::portable
