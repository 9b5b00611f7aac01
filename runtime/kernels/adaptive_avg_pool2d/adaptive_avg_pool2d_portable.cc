#include "runtime/kernels/adaptive_avg_pool2d/adaptive_avg_pool2d.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_adaptive_avg_pool2d(const void* args, const Bases& bases) {
  average_adaptively<std::int8_t>(*static_cast<const payload::AdaptiveAvgPool2dArgs*>(args), bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kAdaptiveAvgPool2d> kAdaptiveAvgPool2d =
    Kernel(operators::kAdaptiveAvgPool2d, run_adaptive_avg_pool2d);

}  // namespace cmsis_nn_delegate::portable
