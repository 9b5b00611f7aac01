#include "runtime/kernels/common/gate_vectors.h"
#include "runtime/kernels/lstm_projected/lstm_projected_rows.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmProjectedVectorsArgs;
using Gates = PlainGateVectors;
using Projection = VectorProjection<PlainVectorProducts>;

}  // namespace

Error run_lstm_projected_vectors(const void* args, const Bases& bases) {
  return compute_lstm_projected_rows<Gates, PlainLstmUnits<Gates>, Projection>(
      *static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmProjectedVectors> kLstmProjectedVectors =
    lstm_projected_rows_kernel<Gates, Projection, Args>(operators::kLstmProjectedVectors,
                                                        run_lstm_projected_vectors);

}  // namespace cmsis_nn_delegate::portable
