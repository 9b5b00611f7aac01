#include "runtime/kernels/fully_connected/fully_connected_vectors.h"
#include "runtime/kernels/fully_connected/row_vectors_mve.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_fully_connected_vectors_int16(const void* args, const Bases& bases) {
  return portable::compute_fully_connected_vectors<MveOr<MveRowVectors, portable::PlainRowVectors>,
                                                   std::int16_t,
                                                   payload::FullyConnectedVectorsInt16Args>(args,
                                                                                            bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedVectorsInt16> kFullyConnectedVectorsInt16 =
    portable::fully_connected_vectors_kernel<portable::row_vectors::ByteWeights, std::int16_t,
                                             payload::FullyConnectedVectorsInt16Args>(
        operators::kFullyConnectedVectorsInt16, run_fully_connected_vectors_int16);

}  // namespace cmsis_nn_delegate::tuned
