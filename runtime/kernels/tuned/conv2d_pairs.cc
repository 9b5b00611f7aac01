#include <type_traits>

#include "runtime/kernels/portable/conv2d_pairs.h"

#include "runtime/kernels/tuned/pair_products_dsp.h"
#include "runtime/kernels/tuned/pair_products_scalar.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace tuned {
namespace {

#ifdef __ARM_ARCH_ISA_THUMB
using WithoutDsp = ScalarPairProducts;
#else
using WithoutDsp = portable::PlainPairProducts;  // on the host
#endif

// The compiler gives this kernel no calls for MVE; there it is complete, and slow.
using Products = std::conditional_t<kCompiledIsa == payload::Isa::kDsp, DspPairProducts,
                                    std::conditional_t<kCompiledIsa == payload::Isa::kScalar,
                                                       WithoutDsp, portable::PlainPairProducts>>;

}  // namespace

constexpr KernelOf<payload::Opcode::kConv2dPairs> kConv2dPairs =
    portable::conv2d_pairs_kernel<Products>();

}  // namespace tuned
}  // namespace cmsis_nn_delegate
