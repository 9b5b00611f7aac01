#include "runtime/kernels/adaptive_avg_pool2d/adaptive_avg_pool2d.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_adaptive_avg_pool2d_int16(const void* args, const Bases& bases) {
  average_adaptively<std::int16_t>(*static_cast<const payload::AdaptiveAvgPool2dInt16Args*>(args),
                                   bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kAdaptiveAvgPool2dInt16> kAdaptiveAvgPool2dInt16 =
    Kernel(operators::kAdaptiveAvgPool2dInt16, run_adaptive_avg_pool2d_int16);

}  // namespace cmsis_nn_delegate::portable
