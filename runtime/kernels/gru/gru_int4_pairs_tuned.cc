#include "runtime/kernels/common/gate_pairs_dsp.h"
#include "runtime/kernels/common/gru_units_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::GruInt4PairsArgs;
using Plain = portable::PlainNibbleGatePairs;
using Gates = DspOr<DspNibbleGatePairs, Plain>;
using Units = DspOr<DspGruUnits, portable::PlainGruUnits<Plain>>;

}  // namespace

Error run_gru_int4_pairs(const void* args, const Bases& bases) {
  return portable::compute_gru_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruInt4Pairs> kGruInt4Pairs =
    portable::gate_rows_kernel<Gates, Args, 3>(operators::kGruInt4Pairs, run_gru_int4_pairs);

}  // namespace cmsis_nn_delegate::tuned
