#include "runtime/kernels/avg_pool2d/average_pooling.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_avg_pool2d(const void* args, const Bases& bases) {
  pool_averages<std::int8_t>(*static_cast<const payload::AvgPool2dArgs*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kAvgPool2d> kAvgPool2d =
    Kernel(operators::kAvgPool2d, run_avg_pool2d);

}  // namespace cmsis_nn_delegate::portable
