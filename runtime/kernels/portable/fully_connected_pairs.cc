#include "runtime/kernels/portable/fully_connected_pairs.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kFullyConnectedPairs> kFullyConnectedPairs =
    fully_connected_pairs_kernel<PlainRowProducts>();

}  // namespace portable
}  // namespace cmsis_nn_delegate
