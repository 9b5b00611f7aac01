#include "runtime/kernels/common/gate_pairs.h"
#include "runtime/kernels/lstm_projected/lstm_projected_rows.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmProjectedPairsArgs;
using Gates = PlainGatePairs;
using Projection = PairProjection<PlainRowProducts>;

}  // namespace

Error run_lstm_projected_pairs(const void* args, const Bases& bases) {
  return compute_lstm_projected_rows<Gates, PlainLstmUnits<Gates>, Projection>(
      *static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmProjectedPairs> kLstmProjectedPairs =
    lstm_projected_rows_kernel<Gates, Projection, Args>(operators::kLstmProjectedPairs,
                                                        run_lstm_projected_pairs);

}  // namespace cmsis_nn_delegate::portable
