#include "runtime/kernels/max_pool2d/maximum_pooling.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_max_pool2d_dilated_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MaxPool2dDilatedInt16Args*>(args);
  pool_maxima<std::int16_t>(a, a.dilation, bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMaxPool2dDilatedInt16> kMaxPool2dDilatedInt16 =
    Kernel(operators::kMaxPool2dDilatedInt16, run_max_pool2d_dilated_int16);

}  // namespace cmsis_nn_delegate::portable
