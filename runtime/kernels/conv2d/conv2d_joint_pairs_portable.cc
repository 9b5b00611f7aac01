#include "runtime/kernels/conv2d/conv2d_pairs.h"

namespace cmsis_nn_delegate::portable {

Error run_conv2d_joint_pairs(const void* args, const Bases& bases) {
  return compute_conv2d_pairs<PlainJointPairProducts, payload::Conv2dJointPairsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dJointPairs> kConv2dJointPairs =
    conv2d_joint_pairs_kernel(run_conv2d_joint_pairs);

}  // namespace cmsis_nn_delegate::portable
