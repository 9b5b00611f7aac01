#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/rescale/rescale.h"

namespace cmsis_nn_delegate::portable {

Error run_rescale_int16_to_int8(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::RescaleInt16ToInt8Args*>(args);
  rescale_elements<std::int16_t, std::int8_t>(a, bases, 0);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kRescaleInt16ToInt8> kRescaleInt16ToInt8 =
    Kernel(operators::kRescaleInt16ToInt8, run_rescale_int16_to_int8).in_place();

}  // namespace cmsis_nn_delegate::portable
