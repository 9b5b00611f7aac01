#include "runtime/kernels/fully_connected/fully_connected_vectors.h"
#include "runtime/kernels/fully_connected/row_vectors_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_fully_connected_vectors(const void* args, const Bases& bases) {
  return portable::compute_fully_connected_vectors<MveOr<MveRowVectors, portable::PlainRowVectors>,
                                                   std::int8_t, payload::FullyConnectedVectorsArgs>(
      args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedVectors> kFullyConnectedVectors =
    portable::fully_connected_vectors_kernel<portable::row_vectors::ByteWeights, std::int8_t,
                                             payload::FullyConnectedVectorsArgs>(
        operators::kFullyConnectedVectors, run_fully_connected_vectors);

}  // namespace cmsis_nn_delegate::tuned
