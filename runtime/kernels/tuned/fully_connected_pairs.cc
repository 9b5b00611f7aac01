#include "runtime/kernels/portable/fully_connected_pairs.h"

#include <type_traits>

#include "runtime/kernels/tuned/row_products_dsp.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace tuned {
namespace {

// The compiler gives this kernel calls only for DSP; elsewhere it is complete, and slow.
using Products = std::conditional_t<kCompiledIsa == payload::Isa::kDsp, DspRowProducts,
                                    portable::PlainRowProducts>;

}  // namespace

constexpr KernelOf<payload::Opcode::kFullyConnectedPairs> kFullyConnectedPairs =
    portable::fully_connected_pairs_kernel<Products>();

}  // namespace tuned
}  // namespace cmsis_nn_delegate
