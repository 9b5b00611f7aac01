#include "runtime/kernels/common/gate_vectors.h"
#include "runtime/kernels/common/gru_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::GruInt4VectorsInt16Args;
using Gates = PlainNibbleGateVectorsInt16;

}  // namespace

Error run_gru_int4_vectors_int16(const void* args, const Bases& bases) {
  return compute_gru_rows<Gates, PlainGruUnits<Gates>>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruInt4VectorsInt16> kGruInt4VectorsInt16 =
    gate_rows_kernel<Gates, Args, 3>(operators::kGruInt4VectorsInt16, run_gru_int4_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
