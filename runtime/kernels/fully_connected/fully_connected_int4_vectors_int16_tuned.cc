#include "runtime/kernels/fully_connected/fully_connected_vectors.h"
#include "runtime/kernels/fully_connected/row_vectors_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_fully_connected_int4_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_fully_connected_vectors<
      MveOr<MveNibbleRowVectors, portable::PlainNibbleRowVectors>, std::int16_t,
      payload::FullyConnectedInt4VectorsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4VectorsInt16>
    kFullyConnectedInt4VectorsInt16 =
        portable::fully_connected_vectors_kernel<portable::row_vectors::NibbleWeights, std::int16_t,
                                                 payload::FullyConnectedInt4VectorsInt16Args>(
            operators::kFullyConnectedInt4VectorsInt16, run_fully_connected_int4_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
