#include "runtime/kernels/last_step/last_step.h"

namespace cmsis_nn_delegate::portable {

Error run_last_step_int16(const void* args, const Bases& bases) {
  return copy_last_steps<std::int16_t>(*static_cast<const payload::LastStepInt16Args*>(args),
                                       bases);
}

constexpr KernelOf<payload::Opcode::kLastStepInt16> kLastStepInt16 =
    Kernel(operators::kLastStepInt16, run_last_step_int16);

}  // namespace cmsis_nn_delegate::portable
