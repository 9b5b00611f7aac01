#include "runtime/kernels/portable/conv2d_pairs.h"

#include "runtime/kernels/tuned/inner_loops.h"
#include "runtime/kernels/tuned/pair_products_dsp.h"
#include "runtime/kernels/tuned/pair_products_scalar.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace tuned {
namespace {

// The compiler gives this kernel no calls for MVE.
using Products = DspOrScalar<DspPairProducts, ScalarPairProducts, portable::PlainPairProducts>;

}  // namespace

constexpr KernelOf<payload::Opcode::kConv2dPairs> kConv2dPairsAny =
    portable::conv2d_pairs_kernel<Products, portable::PairForms::kAny>();

Error conv2d_pairs_any(const payload::Conv2dPairsArgs& args, const Bases& bases) {
  return kConv2dPairsAny.run(&args, bases);
}

}  // namespace tuned
}  // namespace cmsis_nn_delegate
