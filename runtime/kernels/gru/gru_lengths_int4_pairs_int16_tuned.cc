#include "runtime/kernels/common/gate_pairs_dsp.h"
#include "runtime/kernels/common/gru_units.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::GruLengthsInt4PairsInt16Args;
using Plain = portable::PlainNibbleGatePairsInt16;
using Gates = DspOr<DspNibbleGatePairsInt16, Plain>;
using Units = portable::PlainGruUnits<Plain>;

}  // namespace

Error run_gru_lengths_int4_pairs_int16(const void* args, const Bases& bases) {
  return portable::compute_gru_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsInt4PairsInt16> kGruLengthsInt4PairsInt16 =
    portable::gate_rows_kernel<Gates, Args, 3>(operators::kGruLengthsInt4PairsInt16,
                                               run_gru_lengths_int4_pairs_int16);

}  // namespace cmsis_nn_delegate::tuned
