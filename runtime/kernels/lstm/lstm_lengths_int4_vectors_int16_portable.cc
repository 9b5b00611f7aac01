#include "runtime/kernels/common/gate_vectors.h"
#include "runtime/kernels/common/lstm_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmLengthsInt4VectorsInt16Args;
using Gates = PlainNibbleGateVectorsInt16;

}  // namespace

Error run_lstm_lengths_int4_vectors_int16(const void* args, const Bases& bases) {
  return compute_lstm_rows<Gates, PlainLstmUnits<Gates>>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengthsInt4VectorsInt16> kLstmLengthsInt4VectorsInt16 =
    gate_rows_kernel<Gates, Args, 4>(operators::kLstmLengthsInt4VectorsInt16,
                                     run_lstm_lengths_int4_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
