#include "runtime/kernels/avg_pool2d/average_pooling.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_avg_pool2d_int16(const void* args, const Bases& bases) {
  pool_averages<std::int16_t>(*static_cast<const payload::AvgPool2dInt16Args*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kAvgPool2dInt16> kAvgPool2dInt16 =
    Kernel(operators::kAvgPool2dInt16, run_avg_pool2d_int16);

}  // namespace cmsis_nn_delegate::portable
