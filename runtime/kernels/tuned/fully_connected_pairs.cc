#include <type_traits>

#include "runtime/kernels/portable/fully_connected_pairs.h"

#include "runtime/kernels/tuned/row_products_dsp.h"
#include "runtime/kernels/tuned/row_products_scalar.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace tuned {
namespace {

#ifdef __ARM_ARCH_ISA_THUMB
using WithoutDsp = ScalarRowProducts;
#else
using WithoutDsp = portable::PlainRowProducts;  // on the host
#endif

// The compiler gives this kernel no calls for MVE; there it is complete, and slow.
using Products = std::conditional_t<kCompiledIsa == payload::Isa::kDsp, DspRowProducts,
                                    std::conditional_t<kCompiledIsa == payload::Isa::kScalar,
                                                       WithoutDsp, portable::PlainRowProducts>>;

}  // namespace

constexpr KernelOf<payload::Opcode::kFullyConnectedPairs> kFullyConnectedPairs =
    portable::fully_connected_pairs_kernel<Products>();

}  // namespace tuned
}  // namespace cmsis_nn_delegate
