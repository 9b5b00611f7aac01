#include "runtime/kernels/common/gate_vectors.h"
#include "runtime/kernels/common/lstm_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmLengthsInt4VectorsArgs;
using Gates = PlainNibbleGateVectors;

}  // namespace

Error run_lstm_lengths_int4_vectors(const void* args, const Bases& bases) {
  return compute_lstm_rows<Gates, PlainLstmUnits<Gates>>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengthsInt4Vectors> kLstmLengthsInt4Vectors =
    gate_rows_kernel<Gates, Args, 4>(operators::kLstmLengthsInt4Vectors,
                                     run_lstm_lengths_int4_vectors);

}  // namespace cmsis_nn_delegate::portable
