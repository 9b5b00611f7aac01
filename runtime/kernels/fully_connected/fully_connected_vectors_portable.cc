#include "runtime/kernels/fully_connected/fully_connected_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_vectors(const void* args, const Bases& bases) {
  return compute_fully_connected_vectors<PlainRowVectors, std::int8_t,
                                         payload::FullyConnectedVectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedVectors> kFullyConnectedVectors =
    fully_connected_vectors_kernel<row_vectors::ByteWeights, std::int8_t,
                                   payload::FullyConnectedVectorsArgs>(
        operators::kFullyConnectedVectors, run_fully_connected_vectors);

}  // namespace cmsis_nn_delegate::portable
