#include <type_traits>

#include "runtime/kernels/common/gate_vectors_mve.h"
#include "runtime/kernels/gru/gru_units_mve.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace tuned {
namespace {

using Args = payload::GruLengthsVectorsArgs;
using portable::PlainGateVectors;

// The compiler gives this kernel calls only for MVE; elsewhere it is complete, and slow.
constexpr bool kMve = kCompiledIsa == payload::Isa::kMve;
using Gates = std::conditional_t<kMve, MveGateVectors, PlainGateVectors>;
using Units = std::conditional_t<kMve, MveGruUnits, portable::PlainGruUnits<PlainGateVectors>>;

}  // namespace

Error run_gru_lengths_vectors(const void* args, const Bases& bases) {
  return portable::compute_gru_rows<Gates, Units>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsVectors> kGruLengthsVectors =
    portable::gate_rows_kernel<Gates, Args, 3>(operators::kGruLengthsVectors,
                                               run_gru_lengths_vectors);

}  // namespace tuned
}  // namespace cmsis_nn_delegate
