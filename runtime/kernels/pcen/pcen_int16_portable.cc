#include "runtime/kernels/pcen/pcen.h"

namespace cmsis_nn_delegate::portable {

Error run_pcen_int16(const void* args, const Bases& bases) {
  return compute_pcen<std::int16_t>(*static_cast<const payload::PcenInt16Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kPcenInt16> kPcenInt16 =
    Kernel(operators::kPcenInt16, run_pcen_int16);

}  // namespace cmsis_nn_delegate::portable
