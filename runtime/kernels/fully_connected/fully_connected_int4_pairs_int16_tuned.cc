#include "runtime/kernels/common/row_products_int16_dsp.h"
#include "runtime/kernels/fully_connected/fully_connected_pairs.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_fully_connected_int4_pairs_int16(const void* args, const Bases& bases) {
  return portable::compute_fully_connected_pairs<
      DspOr<DspNibbleRowProductsInt16, portable::PlainNibbleRowProductsInt16>,
      payload::FullyConnectedInt4PairsInt16Args>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4PairsInt16> kFullyConnectedInt4PairsInt16 =
    portable::fully_connected_int4_pairs_int16_kernel(run_fully_connected_int4_pairs_int16);

}  // namespace cmsis_nn_delegate::tuned
