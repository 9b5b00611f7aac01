#include "runtime/kernels/common/row_products_dsp.h"
#include "runtime/kernels/fully_connected/fully_connected_pairs.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_fully_connected_joint_pairs(const void* args, const Bases& bases) {
  return portable::compute_fully_connected_pairs<
      DspOr<DspJointRowProducts, portable::PlainJointRowProducts>,
      payload::FullyConnectedJointPairsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedJointPairs> kFullyConnectedJointPairs =
    portable::fully_connected_joint_pairs_kernel(run_fully_connected_joint_pairs);

}  // namespace cmsis_nn_delegate::tuned
