#include "runtime/kernels/common/gate_pairs.h"
#include "runtime/kernels/common/lstm_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmLengthsPairsArgs;

}  // namespace

Error run_lstm_lengths_pairs(const void* args, const Bases& bases) {
  return compute_lstm_rows<PlainGatePairs, PlainLstmUnits<PlainGatePairs>>(
      *static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengthsPairs> kLstmLengthsPairs =
    gate_rows_kernel<PlainGatePairs, Args, 4>(operators::kLstmLengthsPairs, run_lstm_lengths_pairs);

}  // namespace cmsis_nn_delegate::portable
