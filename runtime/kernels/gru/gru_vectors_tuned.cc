#include "runtime/kernels/common/gate_vectors_mve.h"
#include "runtime/kernels/common/gru_units_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Gates = MveOr<MveGateVectors, portable::PlainGateVectors>;
using Units = MveOr<MveGruUnits, portable::PlainGruUnits<portable::PlainGateVectors>>;

}  // namespace

Error run_gru_vectors(const void* args, const Bases& bases) {
  return portable::compute_gru_rows<Gates, Units>(
      *static_cast<const payload::GruVectorsArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruVectors> kGruVectors =
    portable::gate_rows_kernel<Gates, payload::GruVectorsArgs, 3>(operators::kGruVectors,
                                                                  run_gru_vectors);

}  // namespace cmsis_nn_delegate::tuned
