#include "runtime/kernels/common/gate_vectors_mve.h"
#include "runtime/kernels/common/lstm_units_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::LstmInt4VectorsArgs;
using Plain = portable::PlainNibbleGateVectors;
using Gates = MveOr<MveNibbleGateVectors, Plain>;
using Units = MveOr<MveLstmUnits, portable::PlainLstmUnits<Plain>>;

}  // namespace

Error run_lstm_int4_vectors(const void* args, const Bases& bases) {
  return portable::compute_lstm_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmInt4Vectors> kLstmInt4Vectors =
    portable::gate_rows_kernel<Gates, Args, 4>(operators::kLstmInt4Vectors, run_lstm_int4_vectors);

}  // namespace cmsis_nn_delegate::tuned
