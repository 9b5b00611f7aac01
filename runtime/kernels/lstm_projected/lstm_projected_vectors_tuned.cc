#include <type_traits>

#include "runtime/kernels/common/gate_vectors_mve.h"
#include "runtime/kernels/common/lstm_units_mve.h"
#include "runtime/kernels/common/vector_products_mve.h"
#include "runtime/kernels/lstm_projected/lstm_projected_rows.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {
namespace {

using Args = payload::LstmProjectedVectorsArgs;
using portable::PlainGateVectors;

// The compiler gives this kernel calls only for MVE; elsewhere it is complete, and slow.
constexpr bool kMve = kCompiledIsa == payload::Isa::kMve;
using Gates = std::conditional_t<kMve, MveGateVectors, PlainGateVectors>;
using Units = std::conditional_t<kMve, MveLstmUnits, portable::PlainLstmUnits<PlainGateVectors>>;
using Projection = portable::VectorProjection<
    std::conditional_t<kMve, MveVectorProducts, portable::PlainVectorProducts>>;

}  // namespace

Error run_lstm_projected_vectors(const void* args, const Bases& bases) {
  return portable::compute_lstm_projected_rows<Gates, Units, Projection>(
      *static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmProjectedVectors> kLstmProjectedVectors =
    portable::lstm_projected_rows_kernel<Gates, Projection, Args>(operators::kLstmProjectedVectors,
                                                                  run_lstm_projected_vectors);

}  // namespace cmsis_nn_delegate::tuned
