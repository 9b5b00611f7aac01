#include "runtime/kernels/fully_connected_groups/group_pairs_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_fully_connected_int4_groups_pairs(const void* args, const Bases& bases) {
  return portable::compute_group_pairs<DspOr<DspGroupPairs, portable::PlainGroupPairs>>(args,
                                                                                        bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4GroupsPairs> kFullyConnectedInt4GroupsPairs =
    portable::group_pairs_kernel(run_fully_connected_int4_groups_pairs);

}  // namespace cmsis_nn_delegate::tuned
