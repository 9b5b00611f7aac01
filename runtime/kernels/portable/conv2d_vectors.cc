#include "runtime/kernels/portable/conv2d_vectors.h"

namespace cmsis_nn_delegate {
namespace portable {

constexpr KernelOf<payload::Opcode::kConv2dVectors> kConv2dVectors =
    conv2d_vectors_kernel<PlainVectorProducts>();

Error conv2d_vectors(const payload::Conv2dVectorsArgs& args, const Bases& bases) {
  return kConv2dVectors.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
