#include "runtime/kernels/common/gate_vectors.h"
#include "runtime/kernels/common/gru_units.h"

namespace cmsis_nn_delegate::portable {

Error run_gru_lengths_vectors(const void* args, const Bases& bases) {
  return compute_gru_rows<PlainGateVectors, PlainGruUnits<PlainGateVectors>>(
      *static_cast<const payload::GruLengthsVectorsArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsVectors> kGruLengthsVectors =
    gate_rows_kernel<PlainGateVectors, payload::GruLengthsVectorsArgs, 3>(
        operators::kGruLengthsVectors, run_gru_lengths_vectors);

}  // namespace cmsis_nn_delegate::portable
