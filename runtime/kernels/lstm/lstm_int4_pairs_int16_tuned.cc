#include "runtime/kernels/common/gate_pairs_dsp.h"
#include "runtime/kernels/common/lstm_units.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::LstmInt4PairsInt16Args;
using Plain = portable::PlainNibbleGatePairsInt16;
using Gates = DspOr<DspNibbleGatePairsInt16, Plain>;
using Units = portable::PlainLstmUnits<Plain>;

}  // namespace

Error run_lstm_int4_pairs_int16(const void* args, const Bases& bases) {
  return portable::compute_lstm_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmInt4PairsInt16> kLstmInt4PairsInt16 =
    portable::gate_rows_kernel<Gates, Args, 4>(operators::kLstmInt4PairsInt16,
                                               run_lstm_int4_pairs_int16);

}  // namespace cmsis_nn_delegate::tuned
