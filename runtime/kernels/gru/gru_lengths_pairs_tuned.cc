#include "runtime/kernels/common/gate_pairs_dsp.h"
#include "runtime/kernels/common/gru_units_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Gates = DspOr<DspGatePairs, portable::PlainGatePairs>;
using Units = DspOr<DspGruUnits, portable::PlainGruUnits<portable::PlainGatePairs>>;

}  // namespace

Error run_gru_lengths_pairs(const void* args, const Bases& bases) {
  return portable::compute_gru_rows<Gates, Units>(
      *static_cast<const payload::GruLengthsPairsArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsPairs> kGruLengthsPairs =
    portable::gate_rows_kernel<Gates, payload::GruLengthsPairsArgs, 3>(operators::kGruLengthsPairs,
                                                                       run_gru_lengths_pairs);

}  // namespace cmsis_nn_delegate::tuned
