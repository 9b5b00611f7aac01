#include "runtime/kernels/fully_connected/fully_connected_pairs.h"

#include "runtime/kernels/common/row_products_dsp.h"
#include "runtime/kernels/common/row_products_scalar.h"
#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate::tuned {

Error run_fully_connected_pairs(const void* args, const Bases& bases) {
  return portable::compute_fully_connected_pairs<
      DspOrScalar<DspRowProducts, ScalarRowProducts, portable::PlainRowProducts>,
      payload::FullyConnectedPairsArgs>(args, bases);
}

constexpr KernelOf<payload::Opcode::kFullyConnectedPairs> kFullyConnectedPairs =
    portable::fully_connected_pairs_kernel(run_fully_connected_pairs);

}  // namespace cmsis_nn_delegate::tuned
