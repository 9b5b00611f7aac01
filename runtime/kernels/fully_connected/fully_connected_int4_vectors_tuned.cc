#include "runtime/kernels/fully_connected/fully_connected_vectors.h"
#include "runtime/kernels/fully_connected/row_vectors_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_fully_connected_int4_vectors(const void* args, const Bases& bases) {
  return portable::compute_fully_connected_vectors<
      MveOr<MveNibbleRowVectors, portable::PlainNibbleRowVectors>, std::int8_t,
      payload::FullyConnectedInt4VectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4Vectors> kFullyConnectedInt4Vectors =
    portable::fully_connected_vectors_kernel<portable::row_vectors::NibbleWeights, std::int8_t,
                                             payload::FullyConnectedInt4VectorsArgs>(
        operators::kFullyConnectedInt4Vectors, run_fully_connected_int4_vectors);

}  // namespace cmsis_nn_delegate::tuned
