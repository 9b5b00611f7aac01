#include <type_traits>

#include "runtime/kernels/common/gate_vectors_mve.h"
#include "runtime/kernels/common/lstm_units_mve.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::LstmLengthsVectorsArgs;
using portable::PlainGateVectors;

// The compiler gives this kernel calls only for MVE; elsewhere it is complete, and slow.
constexpr bool kMve = kCompiledIsa == payload::Isa::kMve;
using Gates = std::conditional_t<kMve, MveGateVectors, PlainGateVectors>;
using Units = std::conditional_t<kMve, MveLstmUnits, portable::PlainLstmUnits<PlainGateVectors>>;

}  // namespace

Error run_lstm_lengths_vectors(const void* args, const Bases& bases) {
  return portable::compute_lstm_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmLengthsVectors> kLstmLengthsVectors =
    portable::gate_rows_kernel<Gates, Args, 4>(operators::kLstmLengthsVectors,
                                               run_lstm_lengths_vectors);

}  // namespace cmsis_nn_delegate::tuned
