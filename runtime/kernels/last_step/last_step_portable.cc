#include "runtime/kernels/last_step/last_step.h"

namespace cmsis_nn_delegate::portable {

Error run_last_step(const void* args, const Bases& bases) {
  return copy_last_steps<std::int8_t>(*static_cast<const payload::LastStepArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLastStep> kLastStep =
    Kernel(operators::kLastStep, run_last_step);

}  // namespace cmsis_nn_delegate::portable
