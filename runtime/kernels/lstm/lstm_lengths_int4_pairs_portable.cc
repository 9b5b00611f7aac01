#include "runtime/kernels/common/gate_pairs.h"
#include "runtime/kernels/common/lstm_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmLengthsInt4PairsArgs;
using Gates = PlainNibbleGatePairs;

}  // namespace

Error run_lstm_lengths_int4_pairs(const void* args, const Bases& bases) {
  return compute_lstm_rows<Gates, PlainLstmUnits<Gates>>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengthsInt4Pairs> kLstmLengthsInt4Pairs =
    gate_rows_kernel<Gates, Args, 4>(operators::kLstmLengthsInt4Pairs, run_lstm_lengths_int4_pairs);

}  // namespace cmsis_nn_delegate::portable
