#include "runtime/kernels/fully_connected/fully_connected_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_joint_pairs(const void* args, const Bases& bases) {
  return compute_fully_connected_pairs<PlainJointRowProducts,
                                       payload::FullyConnectedJointPairsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedJointPairs> kFullyConnectedJointPairs =
    fully_connected_joint_pairs_kernel(run_fully_connected_joint_pairs);

}  // namespace cmsis_nn_delegate::portable
