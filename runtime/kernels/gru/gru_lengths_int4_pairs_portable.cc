#include "runtime/kernels/common/gate_pairs.h"
#include "runtime/kernels/common/gru_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::GruLengthsInt4PairsArgs;
using Gates = PlainNibbleGatePairs;

}  // namespace

Error run_gru_lengths_int4_pairs(const void* args, const Bases& bases) {
  return compute_gru_rows<Gates, PlainGruUnits<Gates>>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsInt4Pairs> kGruLengthsInt4Pairs =
    gate_rows_kernel<Gates, Args, 3>(operators::kGruLengthsInt4Pairs, run_gru_lengths_int4_pairs);

}  // namespace cmsis_nn_delegate::portable
