#include "runtime/kernels/fully_connected_groups/fully_connected_int4_groups_vectors.h"
#include "runtime/kernels/fully_connected_groups/group_vectors_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_fully_connected_int4_groups_vectors(const void* args, const Bases& bases) {
  return portable::compute_group_vectors<MveOr<MveGroupVectors, portable::PlainGroupVectors>>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4GroupsVectors>
    kFullyConnectedInt4GroupsVectors =
        portable::group_vectors_kernel(run_fully_connected_int4_groups_vectors);

}  // namespace cmsis_nn_delegate::tuned
