#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/rescale/rescale.h"

namespace cmsis_nn_delegate::portable {

Error run_rescale_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::RescaleInt16Args*>(args);
  rescale_elements<std::int16_t, std::int16_t>(a, bases, 0);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kRescaleInt16> kRescaleInt16 =
    Kernel(operators::kRescaleInt16, run_rescale_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
