#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/rescale/rescale.h"

namespace cmsis_nn_delegate::portable {

Error run_rescale_int8_to_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::RescaleInt8ToInt16Args*>(args);
  rescale_elements<std::int8_t, std::int16_t>(a, bases, a.input_offset);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kRescaleInt8ToInt16> kRescaleInt8ToInt16 =
    Kernel(operators::kRescaleInt8ToInt16, run_rescale_int8_to_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
