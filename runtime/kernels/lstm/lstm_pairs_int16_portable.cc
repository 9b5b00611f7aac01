#include "runtime/kernels/common/gate_pairs.h"
#include "runtime/kernels/common/lstm_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmPairsInt16Args;
using Gates = PlainGatePairsInt16;

}  // namespace

Error run_lstm_pairs_int16(const void* args, const Bases& bases) {
  return compute_lstm_rows<Gates, PlainLstmUnits<Gates>>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmPairsInt16> kLstmPairsInt16 =
    gate_rows_kernel<Gates, Args, 4>(operators::kLstmPairsInt16, run_lstm_pairs_int16);

}  // namespace cmsis_nn_delegate::portable
