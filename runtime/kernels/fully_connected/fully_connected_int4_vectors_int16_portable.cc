#include "runtime/kernels/fully_connected/fully_connected_vectors.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_int4_vectors_int16(const void* args, const Bases& bases) {
  return compute_fully_connected_vectors<PlainNibbleRowVectors, std::int16_t,
                                         payload::FullyConnectedInt4VectorsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4VectorsInt16>
    kFullyConnectedInt4VectorsInt16 =
        fully_connected_vectors_kernel<row_vectors::NibbleWeights, std::int16_t,
                                       payload::FullyConnectedInt4VectorsInt16Args>(
            operators::kFullyConnectedInt4VectorsInt16, run_fully_connected_int4_vectors_int16);

}  // namespace cmsis_nn_delegate::portable
