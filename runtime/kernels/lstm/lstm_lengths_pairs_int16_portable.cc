#include "runtime/kernels/common/gate_pairs.h"
#include "runtime/kernels/common/lstm_units.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmLengthsPairsInt16Args;
using Gates = PlainGatePairsInt16;

}  // namespace

Error run_lstm_lengths_pairs_int16(const void* args, const Bases& bases) {
  return compute_lstm_rows<Gates, PlainLstmUnits<Gates>>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengthsPairsInt16> kLstmLengthsPairsInt16 =
    gate_rows_kernel<Gates, Args, 4>(operators::kLstmLengthsPairsInt16,
                                     run_lstm_lengths_pairs_int16);

}  // namespace cmsis_nn_delegate::portable
