#include "runtime/kernels/add/add_pairs_int16.h"

namespace cmsis_nn_delegate::portable {

Error run_add_pairs_int16(const void* args, const Bases& bases) {
  return compute_add_pairs_int16<PlainPairSums>(args, bases);
}

constexpr KernelOf<payload::Opcode::kAddPairsInt16> kAddPairsInt16 =
    add_pairs_int16_kernel(run_add_pairs_int16);

}  // namespace cmsis_nn_delegate::portable
