#include "runtime/kernels/common/gate_vectors.h"
#include "runtime/kernels/common/lstm_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmLengthsVectorsArgs;

}  // namespace

Error run_lstm_lengths_vectors(const void* args, const Bases& bases) {
  return compute_lstm_rows<PlainGateVectors, PlainLstmUnits<PlainGateVectors>>(
      *static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengthsVectors> kLstmLengthsVectors =
    gate_rows_kernel<PlainGateVectors, Args, 4>(operators::kLstmLengthsVectors,
                                                run_lstm_lengths_vectors);

}  // namespace cmsis_nn_delegate::portable
