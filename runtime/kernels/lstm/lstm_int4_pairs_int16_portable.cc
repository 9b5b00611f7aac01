#include "runtime/kernels/common/gate_pairs.h"
#include "runtime/kernels/common/lstm_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmInt4PairsInt16Args;
using Gates = PlainNibbleGatePairsInt16;

}  // namespace

Error run_lstm_int4_pairs_int16(const void* args, const Bases& bases) {
  return compute_lstm_rows<Gates, PlainLstmUnits<Gates>>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmInt4PairsInt16> kLstmInt4PairsInt16 =
    gate_rows_kernel<Gates, Args, 4>(operators::kLstmInt4PairsInt16, run_lstm_int4_pairs_int16);

}  // namespace cmsis_nn_delegate::portable
