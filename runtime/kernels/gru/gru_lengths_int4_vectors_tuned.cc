#include "runtime/kernels/common/gate_vectors_mve.h"
#include "runtime/kernels/common/gru_units_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::GruLengthsInt4VectorsArgs;
using Plain = portable::PlainNibbleGateVectors;
using Gates = MveOr<MveNibbleGateVectors, Plain>;
using Units = MveOr<MveGruUnits, portable::PlainGruUnits<Plain>>;

}  // namespace

Error run_gru_lengths_int4_vectors(const void* args, const Bases& bases) {
  return portable::compute_gru_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsInt4Vectors> kGruLengthsInt4Vectors =
    portable::gate_rows_kernel<Gates, Args, 3>(operators::kGruLengthsInt4Vectors,
                                               run_gru_lengths_int4_vectors);

}  // namespace cmsis_nn_delegate::tuned
