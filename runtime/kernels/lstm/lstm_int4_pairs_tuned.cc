#include "runtime/kernels/common/gate_pairs_dsp.h"
#include "runtime/kernels/common/lstm_units_dsp.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::LstmInt4PairsArgs;
using Plain = portable::PlainNibbleGatePairs;
using Gates = DspOr<DspNibbleGatePairs, Plain>;
using Units = DspOr<DspLstmUnits, portable::PlainLstmUnits<Plain>>;

}  // namespace

Error run_lstm_int4_pairs(const void* args, const Bases& bases) {
  return portable::compute_lstm_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmInt4Pairs> kLstmInt4Pairs =
    portable::gate_rows_kernel<Gates, Args, 4>(operators::kLstmInt4Pairs, run_lstm_int4_pairs);

}  // namespace cmsis_nn_delegate::tuned
