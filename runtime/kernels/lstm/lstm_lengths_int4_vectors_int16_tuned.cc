#include "runtime/kernels/common/gate_vectors_mve.h"
#include "runtime/kernels/common/lstm_units_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::LstmLengthsInt4VectorsInt16Args;
using Plain = portable::PlainNibbleGateVectorsInt16;
using Gates = MveOr<MveNibbleGateVectorsInt16, Plain>;
using Units = MveOr<MveLstmUnitsInt16, portable::PlainLstmUnits<Plain>>;

}  // namespace

Error run_lstm_lengths_int4_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_lstm_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengthsInt4VectorsInt16> kLstmLengthsInt4VectorsInt16 =
    portable::gate_rows_kernel<Gates, Args, 4>(operators::kLstmLengthsInt4VectorsInt16,
                                               run_lstm_lengths_int4_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
