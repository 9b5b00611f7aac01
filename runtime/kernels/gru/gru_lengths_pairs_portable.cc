#include "runtime/kernels/common/gate_pairs.h"
#include "runtime/kernels/common/gru_units.h"

namespace cmsis_nn_delegate::portable {

Error run_gru_lengths_pairs(const void* args, const Bases& bases) {
  return compute_gru_rows<PlainGatePairs, PlainGruUnits<PlainGatePairs>>(
      *static_cast<const payload::GruLengthsPairsArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsPairs> kGruLengthsPairs =
    gate_rows_kernel<PlainGatePairs, payload::GruLengthsPairsArgs, 3>(operators::kGruLengthsPairs,
                                                                      run_gru_lengths_pairs);

}  // namespace cmsis_nn_delegate::portable
