#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/quantize/quantize.h"

namespace cmsis_nn_delegate::portable {

Error run_quantize_int16(const void* args, const Bases& bases) {
  quantize_elements<std::int16_t>(*static_cast<const payload::QuantizeInt16Args*>(args), bases, 0);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kQuantizeInt16> kQuantizeInt16 =
    Kernel(operators::kQuantizeInt16, run_quantize_int16);

}  // namespace cmsis_nn_delegate::portable
