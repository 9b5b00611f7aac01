#include "runtime/kernels/fully_connected/fully_connected_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_int4_vectors(const void* args, const Bases& bases) {
  return compute_fully_connected_vectors<PlainNibbleRowVectors, std::int8_t,
                                         payload::FullyConnectedInt4VectorsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4Vectors> kFullyConnectedInt4Vectors =
    fully_connected_vectors_kernel<row_vectors::NibbleWeights, std::int8_t,
                                   payload::FullyConnectedInt4VectorsArgs>(
        operators::kFullyConnectedInt4Vectors, run_fully_connected_int4_vectors);

}  // namespace cmsis_nn_delegate::portable
