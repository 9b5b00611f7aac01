#include "runtime/kernels/common/gate_vectors_mve.h"
#include "runtime/kernels/common/gru_units_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::GruLengthsInt4VectorsInt16Args;
using Plain = portable::PlainNibbleGateVectorsInt16;
using Gates = MveOr<MveNibbleGateVectorsInt16, Plain>;
using Units = MveOr<MveGruUnitsInt16, portable::PlainGruUnits<Plain>>;

}  // namespace

Error run_gru_lengths_int4_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_gru_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsInt4VectorsInt16> kGruLengthsInt4VectorsInt16 =
    portable::gate_rows_kernel<Gates, Args, 3>(operators::kGruLengthsInt4VectorsInt16,
                                               run_gru_lengths_int4_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
