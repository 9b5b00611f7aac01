#include "runtime/kernels/common/gate_pairs.h"
#include "runtime/kernels/common/gru_units.h"

namespace cmsis_nn_delegate::portable {

Error run_gru_pairs(const void* args, const Bases& bases) {
  return compute_gru_rows<PlainGatePairs, PlainGruUnits<PlainGatePairs>>(
      *static_cast<const payload::GruPairsArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruPairs> kGruPairs =
    gate_rows_kernel<PlainGatePairs, payload::GruPairsArgs, 3>(operators::kGruPairs, run_gru_pairs);

}  // namespace cmsis_nn_delegate::portable
