#include "runtime/kernels/common/gate_pairs_dsp.h"
#include "runtime/kernels/common/gru_units_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Gates = DspOr<DspGatePairs, portable::PlainGatePairs>;
using Units = DspOr<DspGruUnits, portable::PlainGruUnits<portable::PlainGatePairs>>;

}  // namespace

Error run_gru_pairs(const void* args, const Bases& bases) {
  return portable::compute_gru_rows<Gates, Units>(*static_cast<const payload::GruPairsArgs*>(args),
                                                  bases);
}

constexpr KernelOf<payload::Opcode::kGruPairs> kGruPairs =
    portable::gate_rows_kernel<Gates, payload::GruPairsArgs, 3>(operators::kGruPairs,
                                                                run_gru_pairs);

}  // namespace cmsis_nn_delegate::tuned
