#include "runtime/kernels/common/gate_vectors.h"
#include "runtime/kernels/common/gru_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::GruLengthsInt4VectorsArgs;
using Gates = PlainNibbleGateVectors;

}  // namespace

Error run_gru_lengths_int4_vectors(const void* args, const Bases& bases) {
  return compute_gru_rows<Gates, PlainGruUnits<Gates>>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsInt4Vectors> kGruLengthsInt4Vectors =
    gate_rows_kernel<Gates, Args, 3>(operators::kGruLengthsInt4Vectors,
                                     run_gru_lengths_int4_vectors);

}  // namespace cmsis_nn_delegate::portable
