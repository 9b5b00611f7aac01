#include <type_traits>

#include "runtime/kernels/common/gate_pairs_dsp.h"
#include "runtime/kernels/common/lstm_units_dsp.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::LstmPairsArgs;
using portable::PlainGatePairs;

// The compiler gives this kernel calls only for DSP; elsewhere it is complete, and slow.
constexpr bool kDsp = kCompiledIsa == payload::Isa::kDsp;
using Gates = std::conditional_t<kDsp, DspGatePairs, PlainGatePairs>;
using Units = std::conditional_t<kDsp, DspLstmUnits, portable::PlainLstmUnits<PlainGatePairs>>;

}  // namespace

Error run_lstm_pairs(const void* args, const Bases& bases) {
  return portable::compute_lstm_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmPairs> kLstmPairs =
    portable::gate_rows_kernel<Gates, Args, 4>(operators::kLstmPairs, run_lstm_pairs);

}  // namespace cmsis_nn_delegate::tuned
