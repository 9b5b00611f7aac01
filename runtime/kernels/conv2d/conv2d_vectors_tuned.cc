#include <type_traits>

#include "runtime/kernels/conv2d/conv2d_vectors.h"

#include "runtime/kernels/common/vector_products_mve.h"
#include "runtime/kernels/tuned/tuned.h"

namespace cmsis_nn_delegate {
namespace tuned {
namespace {

// The compiler gives this kernel calls only for MVE; elsewhere it is complete, and slow.
using Products = std::conditional_t<kCompiledIsa == payload::Isa::kMve, MveVectorProducts,
                                    portable::PlainVectorProducts>;

}  // namespace

Error run_conv2d_vectors(const void* args, const Bases& bases) {
  return portable::compute_conv2d_vectors<Products>(args, bases);
}

constexpr KernelOf<payload::Opcode::kConv2dVectors> kConv2dVectors =
    portable::conv2d_vectors_kernel(run_conv2d_vectors);

}  // namespace tuned
}  // namespace cmsis_nn_delegate
