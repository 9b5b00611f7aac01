#include "runtime/kernels/pcen/pcen.h"

namespace cmsis_nn_delegate::portable {

Error run_pcen(const void* args, const Bases& bases) {
  return compute_pcen<std::int8_t>(*static_cast<const payload::PcenArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kPcen> kPcen = Kernel(operators::kPcen, run_pcen);

}  // namespace cmsis_nn_delegate::portable
