#include <type_traits>

#include "runtime/kernels/common/gate_pairs_dsp.h"
#include "runtime/kernels/common/lstm_units_dsp.h"
#include "runtime/kernels/common/row_products_dsp.h"
#include "runtime/kernels/lstm_projected/lstm_projected_rows.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::LstmProjectedPairsArgs;
using portable::PlainGatePairs;

// The compiler gives this kernel calls only for DSP; elsewhere it is complete, and slow.
constexpr bool kDsp = kCompiledIsa == payload::Isa::kDsp;
using Gates = std::conditional_t<kDsp, DspGatePairs, PlainGatePairs>;
using Units = std::conditional_t<kDsp, DspLstmUnits, portable::PlainLstmUnits<PlainGatePairs>>;
using Projection =
    portable::PairProjection<std::conditional_t<kDsp, DspRowProducts, portable::PlainRowProducts>>;

}  // namespace

Error run_lstm_projected_pairs(const void* args, const Bases& bases) {
  return portable::compute_lstm_projected_rows<Gates, Units, Projection>(
      *static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmProjectedPairs> kLstmProjectedPairs =
    portable::lstm_projected_rows_kernel<Gates, Projection, Args>(operators::kLstmProjectedPairs,
                                                                  run_lstm_projected_pairs);

}  // namespace cmsis_nn_delegate::tuned
