#include "runtime/kernels/fully_connected/fully_connected_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_vectors_int16(const void* args, const Bases& bases) {
  return compute_fully_connected_vectors<PlainRowVectors, std::int16_t,
                                         payload::FullyConnectedVectorsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedVectorsInt16> kFullyConnectedVectorsInt16 =
    fully_connected_vectors_kernel<row_vectors::ByteWeights, std::int16_t,
                                   payload::FullyConnectedVectorsInt16Args>(
        operators::kFullyConnectedVectorsInt16, run_fully_connected_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
