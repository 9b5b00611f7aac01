#include "runtime/kernels/common/row_products_int16_dsp.h"
#include "runtime/kernels/fully_connected/fully_connected_pairs.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_fully_connected_pairs_int16(const void* args, const Bases& bases) {
  return portable::compute_fully_connected_pairs<
      DspOr<DspRowProductsInt16, portable::PlainRowProductsInt16>,
      payload::FullyConnectedPairsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedPairsInt16> kFullyConnectedPairsInt16 =
    portable::fully_connected_pairs_int16_kernel(run_fully_connected_pairs_int16);

}  // namespace cmsis_nn_delegate::tuned
