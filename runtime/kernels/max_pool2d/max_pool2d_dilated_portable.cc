#include "runtime/kernels/max_pool2d/maximum_pooling.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_max_pool2d_dilated(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MaxPool2dDilatedArgs*>(args);
  pool_maxima<std::int8_t>(a, a.dilation, bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMaxPool2dDilated> kMaxPool2dDilated =
    Kernel(operators::kMaxPool2dDilated, run_max_pool2d_dilated);

}  // namespace cmsis_nn_delegate::portable
