#include "runtime/kernels/common/gate_vectors.h"
#include "runtime/kernels/common/gru_units.h"

namespace cmsis_nn_delegate::portable {

Error run_gru_vectors(const void* args, const Bases& bases) {
  return compute_gru_rows<PlainGateVectors, PlainGruUnits<PlainGateVectors>>(
      *static_cast<const payload::GruVectorsArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruVectors> kGruVectors =
    gate_rows_kernel<PlainGateVectors, payload::GruVectorsArgs, 3>(operators::kGruVectors,
                                                                   run_gru_vectors);

}  // namespace cmsis_nn_delegate::portable
